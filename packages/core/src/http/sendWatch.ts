import type { Clock, Timer } from '../base/clock.js'

/** Something that holds a place while a response is sent. */
export interface Sending {
  readonly responseEnded: boolean
  responseDone(): void
}

const SHORTEST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/**
 * Frees the places of responses that their handlers have ended, but that their clients do not read, after `sendGraceMs`. One timer looks at
 * all running ones from time to time: nothing of it costs an ordinary request more than an entry in a set.
 */
export class SendWatch {
  readonly #clock: Clock
  readonly #graceMs: number
  readonly #lookEveryMs: number
  readonly #running = new Set<Sending>()
  /** For those that were found ended, the earliest moment at which that may have been. */
  readonly #endedSince = new Map<Sending, number>()
  #lastLookAtMs = 0
  #timer: Timer | undefined

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
    this.#lookEveryMs = Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, graceMs / 10))
  }

  watch(sending: Sending): void {
    this.#running.add(sending)
    if (this.#timer === undefined) {
      this.#lastLookAtMs = this.#clock.now()
      this.#arm()
    }
  }

  forget(sending: Sending): void {
    this.#running.delete(sending)
    this.#endedSince.delete(sending)
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(() => this.#look(), this.#lookEveryMs, 'background')
  }

  #look(): void {
    const now = this.#clock.now()
    // The earliest moment at which one that is found ended may have. A look that comes late (a blocked event loop) shortens no grace.
    const endedAtMs = Math.max(this.#lastLookAtMs, now - this.#lookEveryMs)
    for (const sending of this.#running) {
      if (!sending.responseEnded) continue
      const sinceMs = this.#endedSince.get(sending) ?? endedAtMs
      if (now - sinceMs >= this.#graceMs) sending.responseDone()
      else this.#endedSince.set(sending, sinceMs)
    }
    this.#lastLookAtMs = now
    if (this.#running.size > 0) this.#arm()
    else this.#timer = undefined
  }
}
