import type { RedisClient } from './client.js'
import { Scripts } from './scripts.js'

/** What all queues of a store share: the user's client, whether it answers, and which server it speaks to. */
export class RedisLink {
  readonly scripts: Scripts
  /** How the names of wake channels begin; carries ioredis' own `keyPrefix`, which is applied to keys only. */
  readonly channelPrefix: string
  readonly #client: RedisClient
  readonly #onReady: () => void
  #ready = false
  #serverRun = ''
  #upSinceMs = -Infinity
  #identifying = 0

  constructor(client: RedisClient, prefix: string, onReady: () => void) {
    this.#client = client
    this.#onReady = onReady
    this.scripts = new Scripts(client)
    this.channelPrefix = `${client.options.keyPrefix ?? ''}${prefix}:wake:`
  }

  /** Connected, and the server's identity is known, or known not to be had. */
  get ready(): boolean {
    return this.#ready && this.#client.status === 'ready'
  }

  /** The server's `run_id`; '' where INFO is denied. A restart from disk or a fail-over changes it (R15). */
  get serverRun(): string {
    return this.#serverRun
  }

  /** What is left of the time for which a server must have been up before an unknown queue opens at once (R17). */
  bootLeftMs(bootGraceMs: number): number {
    return Math.max(0, Math.ceil(bootGraceMs - (performance.now() - this.#upSinceMs)))
  }

  open(): void {
    this.#client.on('ready', this.#onReadyClient)
    this.#client.on('close', this.#lose)
    // A lazy client connects with its first command.
    if (this.#client.status === 'ready' || this.#client.status === 'wait') void this.#identify()
  }

  close(): void {
    this.#client.off('ready', this.#onReadyClient)
    this.#client.off('close', this.#lose)
    this.#ready = false
    this.#identifying += 1
  }

  readonly #lose = (): void => {
    this.#ready = false
    this.#identifying += 1
  }

  readonly #onReadyClient = (): void => void this.#identify()

  async #identify(): Promise<void> {
    this.#identifying += 1
    const turn = this.#identifying
    // Without the right to ask, a loss shows only by a gap in an instance's batches.
    const info = await this.#client.info('server').catch(() => '')
    if (turn !== this.#identifying || this.#client.status !== 'ready') return
    this.#serverRun = /^run_id:(\w+)/m.exec(info)?.[1] ?? ''
    const uptime = /^uptime_in_seconds:(\d+)/m.exec(info)?.[1]
    this.#upSinceMs = uptime === undefined ? -Infinity : performance.now() - Number(uptime) * 1000
    this.#ready = true
    this.#onReady()
  }
}
