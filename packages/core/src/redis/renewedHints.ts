import { systemClock, type Timer } from '../base/clock.js'
import type { HintConnection, HintListener } from './connection.js'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** How long to wait before the next attempt, after `failures` in a row. */
export function pauseMs(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random())
}

/** A connection for hints made of connections that are used once: when one ends, another is opened. */
export class RenewedHints implements HintConnection {
  readonly #open: (listener: HintListener) => HintConnection
  readonly #listener: HintListener
  readonly #pauseMs: (failures: number, cause: unknown) => number
  #current: HintConnection | undefined
  #timer: Timer | undefined
  #failures = 0
  #closed = false

  /** `open` makes a connection that never comes back by itself, or throws if that cannot be now. */
  constructor(
    open: (listener: HintListener) => HintConnection,
    listener: HintListener,
    pause: (failures: number, cause: unknown) => number = pauseMs,
  ) {
    this.#open = open
    this.#listener = listener
    this.#pauseMs = pause
    this.#next()
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#now().then((current) => current.subscribe(channel))
  }

  ping(): Promise<unknown> {
    return this.#now().then((current) => current.ping())
  }

  renew(): void {
    this.#end(new Error('The connection for hints did not answer.'))
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#current?.close()
    this.#current = undefined
  }

  async #now(): Promise<HintConnection> {
    if (this.#current === undefined) throw new Error('The connection for hints is closed.')
    return this.#current
  }

  #next(): void {
    if (this.#closed) return
    const turn: { current?: HintConnection } = {}
    const isCurrent = (): boolean => turn.current !== undefined && turn.current === this.#current
    try {
      turn.current = this.#open({
        onReady: () => {
          if (!isCurrent()) return
          this.#failures = 0
          this.#listener.onReady()
        },
        onDown: (cause) => {
          if (isCurrent()) this.#end(cause)
        },
        onMessage: (channel, message) => {
          if (isCurrent()) this.#listener.onMessage(channel, message)
        },
      })
      this.#current = turn.current
    } catch (error) {
      this.#end(error)
    }
  }

  #end(cause: unknown): void {
    const ended = this.#current
    this.#current = undefined
    ended?.close()
    this.#listener.onDown(cause)
    if (this.#closed) return
    this.#timer?.cancel()
    this.#timer = systemClock.setTimer(() => this.#next(), this.#pauseMs(this.#failures, cause), 'background')
    this.#failures += 1
  }
}
