/** One look at the queue's count of grants. */
interface Sample {
  readonly atMs: number
  readonly grants: number
}

/** How far back the rate looks: long enough for answers that take many seconds, short enough to follow a change. */
const WINDOW_MS = 60_000

/** More samples than one a second are not needed. */
const SAMPLE_EVERY_MS = 1000

/** Estimates waits from the pace at which the queue has granted lately. */
export class Estimate {
  /** Looks at which the count had grown, oldest first; the first of all is the base. */
  readonly #samples: Sample[] = []
  #lookedAtMs = 0

  /** Notes the count of grants at a moment; both only ever grow. A smaller count starts anew (the store lost its memory). */
  note(atMs: number, grants: number): void {
    const samples = this.#samples
    const last = samples.at(-1)
    if (last !== undefined && (grants < last.grants || atMs < this.#lookedAtMs)) samples.length = 0
    this.#lookedAtMs = atMs
    if (samples.length > 0 && grants === last?.grants) return
    const previous = samples.at(-2)
    if (previous !== undefined && last !== undefined && last.atMs - previous.atMs < SAMPLE_EVERY_MS) samples.pop()
    samples.push({ atMs, grants })
    while (samples.length > 2 && samples[1]!.atMs < atMs - WINDOW_MS) samples.shift()
  }

  /** Grants per millisecond up to the last look, or null while too little is known. */
  get rate(): number | null {
    return this.#grantsPerMsUntil(this.#lookedAtMs)
  }

  /**
   * Milliseconds until the ticket at `position` (1 = next) may run: whole, ≥ 0, or null when unknown. Between two grants it counts down;
   * after a minute without one nothing is known any more.
   */
  etaMs(position: number | null): number | null {
    const last = this.#samples.at(-1)
    if (position === null || last === undefined) return null
    const pace = this.#grantsPerMsUntil(last.atMs)
    const sinceLastMs = this.#lookedAtMs - last.atMs
    if (pace === null || sinceLastMs > WINDOW_MS) return null
    const untilNextMs = Math.max(0, 1 / pace - sinceLastMs)
    return Math.max(0, Math.round((position - 1) / pace + untilNextMs))
  }

  #grantsPerMsUntil(endMs: number): number | null {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined) return null
    const elapsed = endMs - first.atMs
    const granted = last.grants - first.grants
    return elapsed > 0 && granted > 0 ? granted / elapsed : null
  }
}
