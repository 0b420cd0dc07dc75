import type { Clock, Timer } from '@fairqueue/core'

interface Pending {
  readonly atMs: number
  readonly order: number
  readonly kind: 'foreground' | 'background'
  readonly callback: () => void
}

/** How many timers wait to fire. */
export interface PendingTimers {
  /** Those that would keep a process alive. */
  readonly foreground: number
  readonly background: number
}

/** Time that moves by hand only; it begins at 0. Its timers keep no process alive. */
export class FakeClock implements Clock {
  #nowMs = 0
  #order = 0
  readonly #timers = new Set<Pending>()

  /** Milliseconds since it was made. */
  now(): number {
    return this.#nowMs
  }

  /** As {@link Clock.setTimer}. @throws RangeError when `delayMs` is not finite */
  setTimer(callback: () => void, delayMs: number, kind: 'foreground' | 'background'): Timer {
    if (!Number.isFinite(delayMs)) throw new RangeError(`A timer of ${delayMs} ms`)
    this.#order += 1
    const timer: Pending = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, kind, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** Timers that have neither fired nor been cancelled. */
  get pending(): PendingTimers {
    const foreground = [...this.#timers].filter(({ kind }) => kind === 'foreground').length
    return { foreground, background: this.#timers.size - foreground }
  }

  /** When the next timer is due; Infinity if none is. */
  get nextAtMs(): number {
    return this.#next?.atMs ?? Infinity
  }

  /**
   * Time goes on by `ms` milliseconds and timers fire in order, each at its moment; what a timer sets going gets its turn before the next
   * one fires. 0 fires what is due now. @throws RangeError when `ms` is below 0 or no finite number
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity))
      throw new RangeError(`Time goes on by milliseconds of at least 0, not by ${String(ms)}.`)
    const target = this.#nowMs + ms
    await breathe()
    while (this.nextAtMs <= target) {
      this.moveTo(Math.max(this.#nowMs, this.nextAtMs))
      this.fireDue()
      await breathe()
    }
    this.moveTo(target)
  }

  /** Time has gone on while this process did not run: a blocked event loop, a suspended machine. Then all that is overdue fires, at once. */
  async jump(ms: number): Promise<void> {
    this.moveTo(this.#nowMs + ms)
    this.fireDue()
    await breathe()
  }

  /** Sets the time and fires nothing. @throws RangeError when that would go back */
  moveTo(nowMs: number): void {
    if (!(nowMs >= this.#nowMs)) throw new RangeError('A monotonic clock never goes back.')
    this.#nowMs = nowMs
  }

  /** Fires what is due now, in order; not what these callbacks set. */
  fireDue(): void {
    const lastOrder = this.#order
    for (let next = this.#next; next !== undefined && next.atMs <= this.#nowMs; next = this.#next) {
      if (next.order > lastOrder) return
      this.#timers.delete(next)
      next.callback()
    }
  }

  get #next(): Pending | undefined {
    let first: Pending | undefined
    for (const timer of this.#timers) {
      if (first === undefined || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order))
        first = timer
    }
    return first
  }
}

/** Lets all that is ready to run in this process run: microtasks, ticks and a round of the event loop. */
export async function breathe(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
