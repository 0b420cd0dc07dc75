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
  /** When the last look was at which a response had not ended, for those that have since. */
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
    for (const sending of this.#running) {
      if (!sending.responseEnded) continue
      const since = this.#endedSince.get(sending)
      if (since === undefined) this.#endedSince.set(sending, this.#lastLookAtMs)
      if (now - (since ?? this.#lastLookAtMs) >= this.#graceMs) sending.responseDone()
    }
    this.#lastLookAtMs = now
    if (this.#running.size > 0) this.#arm()
    else this.#timer = undefined
  }
}
