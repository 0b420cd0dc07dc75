import type { Clock, Timer } from '../base/clock.js'

/** What the schedule needs to know of its instance. */
export interface Circumstances {
  /** Tickets in the line, or settings that somebody else may change back: poll. */
  readonly polls: boolean
  /** Tickets in the store: prove that we live. */
  readonly lives: boolean
  /** Acquires that a grace holds back: ask when it is over. */
  readonly held: boolean
}

/** Two instances that wait for the same moment should not ask in the same millisecond. */
const JITTER_SHARE = 0.15

/** No moment is waited for more finely than this. */
const SHORTEST_MS = 10

/** Says when an instance has to exchange although nothing happened: the safety poll, the heartbeat, an end that nobody tells (R9). */
export class Schedule {
  readonly #clock: Clock
  readonly #pollMs: number
  readonly #heartbeatMs: number
  readonly #circumstances: () => Circumstances
  readonly #due: (full: boolean) => void
  #timer: Timer | undefined
  #timerAtMs = Infinity
  #pollAtMs = 0
  #heartbeatAtMs = 0
  /** When something ends in the store of which no message tells. */
  #nextAtMs = Infinity
  #graceEndsAtMs = Infinity

  constructor(
    clock: Clock,
    pollIntervalMs: number,
    livenessMs: number,
    circumstances: () => Circumstances,
    due: (full: boolean) => void,
  ) {
    this.#clock = clock
    this.#pollMs = pollIntervalMs
    this.#heartbeatMs = livenessMs / 3
    this.#circumstances = circumstances
    this.#due = due
  }

  /** An exchange was answered: count anew. */
  answered(full: boolean, nextMs: number, graceMs: number): void {
    const now = this.#clock.now()
    this.#heartbeatAtMs = now + this.#heartbeatMs
    if (full || this.#pollAtMs <= now) this.#pollAtMs = now + this.#jittered(this.#pollMs)
    this.#nextAtMs = now + Math.max(SHORTEST_MS, this.#jittered(nextMs))
    this.#graceEndsAtMs = graceMs > 0 ? now + graceMs + SHORTEST_MS : Infinity
    this.arm()
  }

  /** Makes sure that a timer runs for whatever is due first. Cheap when one does. */
  arm(): void {
    const at = this.#dueAtMs()
    if (at >= this.#timerAtMs) return
    this.#timer?.cancel()
    this.#timerAtMs = at
    this.#timer =
      at === Infinity ? undefined : this.#clock.setTimer(() => this.#fire(), at - this.#clock.now(), 'background')
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timerAtMs = -Infinity
  }

  #dueAtMs(): number {
    const { polls, lives, held } = this.#circumstances()
    return Math.min(
      polls ? Math.min(this.#pollAtMs, this.#nextAtMs) : Infinity,
      lives ? this.#heartbeatAtMs : Infinity,
      held ? Math.min(this.#graceEndsAtMs, this.#heartbeatAtMs) : Infinity,
    )
  }

  #fire(): void {
    this.#timerAtMs = Infinity
    const now = this.#clock.now()
    if (this.#dueAtMs() <= now) {
      const full = this.#circumstances().polls && this.#pollAtMs <= now
      // Asked for; should no answer come, ask again no sooner than this.
      this.#pollAtMs = Math.max(this.#pollAtMs, now + this.#jittered(this.#pollMs))
      this.#heartbeatAtMs = now + this.#heartbeatMs
      this.#nextAtMs = Infinity
      this.#graceEndsAtMs = Infinity
      this.#due(full)
    }
    this.arm()
  }

  #jittered(ms: number): number {
    return ms * (1 + JITTER_SHARE * (Math.random() - 0.5))
  }
}
