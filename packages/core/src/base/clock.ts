/**
 * Where the library takes its time from. `now` is monotonic (it never jumps with the wall clock), in milliseconds.
 * Everything that waits takes a `Clock`, so that tests can move time by hand.
 */
export interface Clock {
  /** Monotonic milliseconds since an arbitrary start; fractions allowed. */
  now(): number
  /**
   * Calls `callback` once after `delayMs` (values below 0 count as 0; any finite length is allowed, also beyond the 24.8 days that
   * Node's own timers can hold). `background` timers do not keep the process alive.
   */
  setTimer(callback: () => void, delayMs: number, kind: 'foreground' | 'background'): Timer
}

/** A pending call of {@link Clock.setTimer}; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

/** Node's timers overflow above 2^31 − 1 ms and then fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A timer that is so late was held up: the process stood still. */
const STOOD_STILL_MS = 50

class NodeTimer implements Timer {
  readonly #callback: () => void
  readonly #background: boolean
  readonly #dueAtMs: number
  #handle: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined

  constructor(callback: () => void, delayMs: number, background: boolean) {
    this.#callback = callback
    this.#background = background
    this.#dueAtMs = performance.now() + delayMs
    this.#arm(delayMs)
  }

  #arm(delayMs: number): void {
    if (delayMs <= LONGEST_TIMER_MS) {
      this.#handle = setTimeout(() => this.#fire(), delayMs)
    } else {
      this.#handle = setTimeout(() => {
        this.#arm(delayMs - LONGEST_TIMER_MS)
      }, LONGEST_TIMER_MS)
    }
    if (this.#background) this.#handle.unref()
  }

  /** A process that stood still first hears what it was sent meanwhile: Node fires overdue timers before it reads a socket. */
  #fire(): void {
    if (performance.now() - this.#dueAtMs < STOOD_STILL_MS) this.#callback()
    else this.#immediate = setImmediate(this.#callback)
  }

  cancel(): void {
    clearTimeout(this.#handle)
    clearImmediate(this.#immediate)
  }
}

/** The process' own monotonic clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer: (callback, delayMs, kind) => new NodeTimer(callback, delayMs, kind === 'background'),
}
