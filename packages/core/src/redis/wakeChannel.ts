import type { Clock, Timer } from '../base/clock.js'
import type { HintConnection, RedisConnection } from './connection.js'

/** A subscriber sends nothing by itself, so a dead peer would go unnoticed. */
const PING_EVERY_MS = 10_000
const PONG_WITHIN_MS = 5000
/** Without the right to subscribe it is tried again now and then. */
const SUBSCRIBE_AGAIN_MS = 30_000
/** A hint lists at most 500 grants; anything longer is not ours. */
const LONGEST_MESSAGE = 200_000

/** What the channel tells. */
export interface WakeListener {
  onMessage(message: string): void
  onChanged(open: boolean, cause: unknown): void
}

/** The one connection on which a process hears its hints, derived from the user's client. */
export class WakeChannel {
  readonly #clock: Clock
  readonly #connection: HintConnection
  readonly #channel: string
  readonly #listener: WakeListener
  #timer: Timer | undefined
  #closed = false
  /** What was told last; undefined before the first news. */
  #open: boolean | undefined

  constructor(connection: RedisConnection, channel: string, clock: Clock, listener: WakeListener) {
    this.#clock = clock
    this.#channel = channel
    this.#listener = listener
    this.#connection = connection.listen({
      // Whatever it is connected to now, it is subscribed anew; not before `listen` has returned.
      onReady: () => queueMicrotask(() => void this.#subscribe()),
      onDown: (cause) => this.#down(cause),
      onMessage: (from, message) => {
        if (from === channel && message.length <= LONGEST_MESSAGE) listener.onMessage(message)
      },
    })
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#connection.close()
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#connection.subscribe(this.#channel)
    } catch (error) {
      this.#down(error)
      this.#later(SUBSCRIBE_AGAIN_MS, () => void this.#subscribe())
      return
    }
    this.#tell(true, undefined)
    this.#later(PING_EVERY_MS, () => void this.#ping())
  }

  async #ping(): Promise<void> {
    const overdue = this.#clock.setTimer(() => this.#connection.renew(), PONG_WITHIN_MS, 'background')
    try {
      await this.#connection.ping()
      this.#later(PING_EVERY_MS, () => void this.#ping())
    } catch {
      // The connection is gone: its end is told by 'close'.
    } finally {
      overdue.cancel()
    }
  }

  #down(cause: unknown): void {
    this.#timer?.cancel()
    this.#tell(false, cause)
  }

  /** Every attempt to reconnect may fail: that is one outage. */
  #tell(open: boolean, cause: unknown): void {
    if (this.#closed || open === this.#open) return
    this.#open = open
    this.#listener.onChanged(open, cause)
  }

  #later(ms: number, task: () => void): void {
    this.#timer?.cancel()
    if (!this.#closed) this.#timer = this.#clock.setTimer(task, ms, 'background')
  }
}
