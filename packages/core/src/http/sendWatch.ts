import type { Clock, Timer } from '../base/clock.js'

/** Something that holds a place while a response is sent. */
export interface Sending {
  readonly responseEnded: boolean
  responseDone(): void
  /** The watch's own notes; nobody else touches them. */
  readonly watchNote: WatchNote
}

/** Where a {@link Sending} stands in the watch's list (-1: nowhere), and since when its response has been ended. */
export interface WatchNote {
  index: number
  endedAtMs: number | undefined
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
  /** A list with places noted in its members: a set would have to hash every request's object. */
  readonly #running: Sending[] = []
  #lastLookAtMs = 0
  #timer: Timer | undefined

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
    this.#lookEveryMs = Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, graceMs / 10))
  }

  watch(sending: Sending): void {
    sending.watchNote.index = this.#running.push(sending) - 1
    if (this.#timer === undefined) {
      this.#lastLookAtMs = this.#clock.now()
      this.#arm()
    }
  }

  /** Idempotent. */
  forget({ watchNote }: Sending): void {
    const { index } = watchNote
    if (index < 0) return
    watchNote.index = -1
    const last = this.#running.pop()!
    if (last.watchNote === watchNote) return
    this.#running[index] = last
    last.watchNote.index = index
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(() => this.#look(), this.#lookEveryMs, 'background')
  }

  #look(): void {
    const now = this.#clock.now()
    // The earliest moment at which one that is found ended may have. A look that comes late (a blocked event loop) shortens no grace.
    const endedAtMs = Math.max(this.#lastLookAtMs, now - this.#lookEveryMs)
    for (const sending of this.#running.filter(({ responseEnded }) => responseEnded)) {
      const { watchNote } = sending
      watchNote.endedAtMs ??= endedAtMs
      if (now - watchNote.endedAtMs >= this.#graceMs) sending.responseDone()
    }
    this.#lastLookAtMs = now
    if (this.#running.length > 0) this.#arm()
    else this.#timer = undefined
  }
}
