import { systemClock, type Timer } from '../base/clock.js'
import type { RedisConnection } from './connection.js'

/** While a Cluster is about to find a new master, its identity cannot be had. */
const ASK_AGAIN_MS = 250
const MOST_QUESTIONS = 40

/** Whether the server that a queue is on can be reached, and which one it is. Where keys are spread, each queue has its own link. */
export class RedisLink {
  readonly #connection: RedisConnection
  readonly #key: string
  readonly #onReady: () => void
  #ready = false
  #serverRun = ''
  #upSinceMs = -Infinity
  #identifying = 0
  #timer: Timer | undefined

  /** `key`: one of the queue's. */
  constructor(connection: RedisConnection, key: string, onReady: () => void) {
    this.#connection = connection
    this.#key = key
    this.#onReady = onReady
  }

  /** Connected, and the server's identity is known, or known not to be had. */
  get ready(): boolean {
    return this.#ready && this.#connection.ready
  }

  /** The server's `run_id`; '' where INFO is denied. A restart from disk or a fail-over changes it (R15). */
  get serverRun(): string {
    return this.#serverRun
  }

  /** What is left of the time for which a server must have been up before an unknown queue opens at once (R17). */
  bootLeftMs(bootGraceMs: number): number {
    return Math.max(0, Math.ceil(bootGraceMs - (performance.now() - this.#upSinceMs)))
  }

  lose(): void {
    this.#ready = false
    this.#identifying += 1
    this.#timer?.cancel()
  }

  identify(): void {
    this.#identifying += 1
    void this.#identify(this.#identifying, 1)
  }

  async #identify(turn: number, question: number): Promise<void> {
    let info = ''
    try {
      info = await this.#connection.info(this.#key)
    } catch {
      // One server either answers, or denies it, or the connection ends, which is told.
      if (this.#connection.spread && question < MOST_QUESTIONS && turn === this.#identifying) {
        this.#timer?.cancel()
        this.#timer = systemClock.setTimer(() => void this.#identify(turn, question + 1), ASK_AGAIN_MS, 'background')
        return
      }
    }
    if (turn !== this.#identifying || !this.#connection.ready) return
    // Without the right to ask, a loss shows only by a gap in an instance's batches.
    this.#serverRun = /^run_id:(\w+)/m.exec(info)?.[1] ?? ''
    const uptime = /^uptime_in_seconds:(\d+)/m.exec(info)?.[1]
    this.#upSinceMs = uptime === undefined ? -Infinity : performance.now() - Number(uptime) * 1000
    this.#ready = true
    this.#onReady()
  }
}
