import type { Clock, Timer } from '../base/clock.js'

/** A run with an end. */
export interface Expiring {
  /** When its lease ends at the latest; `Infinity` never. Monotonic ms. */
  readonly leaseEndsAtMs: number
  expire(): void
}

/** Ends leases at their cap, with one timer for all that run: nearly all leases end long before, and cost nothing here. */
export class LeaseExpiry {
  readonly #clock: Clock
  readonly #running: Iterable<Expiring>
  #timer: Timer | undefined
  #timerAtMs = Infinity

  constructor(clock: Clock, running: Iterable<Expiring>) {
    this.#clock = clock
    this.#running = running
  }

  /** A lease with this end has begun. */
  watch(endsAtMs: number): void {
    if (endsAtMs >= this.#timerAtMs) return
    this.#timer?.cancel()
    this.#timerAtMs = endsAtMs
    this.#timer = this.#clock.setTimer(() => this.#check(), endsAtMs - this.#clock.now(), 'background')
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timerAtMs = -Infinity
  }

  #check(): void {
    this.#timerAtMs = Infinity
    const now = this.#clock.now()
    let nextMs = Infinity
    for (const lease of this.#running) {
      if (lease.leaseEndsAtMs <= now) lease.expire()
      else nextMs = Math.min(nextMs, lease.leaseEndsAtMs)
    }
    this.watch(nextMs)
  }
}
