import type { Clock, Timer } from '../base/clock.js'
import type { Deferred } from './outbox.js'
import type { Slot } from './slot.js'

/** What waits for an answer now, each kind in the order of its age. */
export interface Unanswered {
  readonly acquires: Iterable<Slot>
  readonly settling: Iterable<Deferred>
}

/** Bounds how long a caller waits for the store's answer, with one timer for all of them. */
export class AnswerDeadline {
  readonly #clock: Clock
  readonly #afterMs: number
  readonly #unanswered: () => Unanswered
  readonly #onOverdue: (slot: Slot) => void
  #timer: Timer | undefined

  constructor(clock: Clock, afterMs: number, unanswered: () => Unanswered, onOverdue: (slot: Slot) => void) {
    this.#clock = clock
    this.#afterMs = afterMs
    this.#unanswered = unanswered
    this.#onOverdue = onOverdue
  }

  /** Something has begun to wait. */
  arm(): void {
    this.#timer ??= this.#clock.setTimer(() => this.#check(), this.#afterMs, 'foreground')
  }

  /** Nothing waits any more: no timer keeps the process alive. */
  disarm(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  stop(): void {
    this.disarm()
    for (const settled of this.#unanswered().settling) settled.resolve()
  }

  #check(): void {
    this.#timer = undefined
    const { acquires, settling } = this.#unanswered()
    const now = this.#clock.now()
    let oldestMs = Infinity
    for (const slot of [...acquires]) {
      // A hint may have been quicker than the answer.
      if (slot.unwanted || (slot.state !== 'unsent' && slot.state !== 'sent')) continue
      // Written as the timer's moment is, so that both round alike.
      if (slot.askedAtMs + this.#afterMs <= now) this.#onOverdue(slot)
      else oldestMs = Math.min(oldestMs, slot.askedAtMs)
    }
    for (const settled of settling) {
      if (settled.askedAtMs === undefined) continue
      if (settled.askedAtMs + this.#afterMs <= now) settled.resolve()
      else oldestMs = Math.min(oldestMs, settled.askedAtMs)
    }
    if (oldestMs < Infinity)
      this.#timer = this.#clock.setTimer(() => this.#check(), oldestMs + this.#afterMs - now, 'foreground')
  }
}
