/** The store's time as the protocol has it: the server's own, but it never runs backwards while the state is remembered (R19). */
export class StoreTime {
  /** The server's wall clock. */
  serverMs: number
  #skewMs = 0
  #lastMs: number | undefined

  constructor(serverMs: number) {
    this.serverMs = serverMs
  }

  /** By how much it is ahead of the server's clock. */
  get skewMs(): number {
    return this.nowMs - Math.floor(this.serverMs)
  }

  get nowMs(): number {
    return Math.max(Math.floor(this.serverMs) + this.#skewMs, this.#lastMs ?? -Infinity)
  }

  /** No call has told it yet, since the start or since all was forgotten: it is whatever the server's clock says. */
  get isOpen(): boolean {
    return this.#lastMs === undefined
  }

  /** A call is executed now; how long the store had been silent before. */
  tick(): number {
    const { nowMs } = this
    this.#skewMs = nowMs - Math.floor(this.serverMs)
    const silentMs = this.#lastMs === undefined ? 0 : nowMs - this.#lastMs
    this.#lastMs = nowMs
    return silentMs
  }

  /** The state is gone, and with it what time it was. */
  forget(): void {
    this.#skewMs = 0
    this.#lastMs = undefined
  }
}
