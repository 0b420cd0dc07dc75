/** One look at the queue's count of grants. */
interface Sample {
  readonly atMs: number
  readonly grants: number
}

/** How far back the rate looks: long enough for answers that take many seconds, short enough to follow a change. */
const WINDOW_MS = 60_000

/** More samples than one a second are not needed. */
const SAMPLE_EVERY_MS = 1000

/** Estimates waits from the rate at which the queue has granted lately. */
export class Estimate {
  readonly #samples: Sample[] = []

  /** Notes the count of grants at a moment; both only ever grow. A smaller count starts anew (the store lost its memory). */
  note(atMs: number, grants: number): void {
    const samples = this.#samples
    const last = samples.at(-1)
    if (last !== undefined && (grants < last.grants || atMs < last.atMs)) samples.length = 0
    const previous = samples.at(-2)
    if (previous !== undefined && last !== undefined && last.atMs - previous.atMs < SAMPLE_EVERY_MS) samples.pop()
    samples.push({ atMs, grants })
    while (samples.length > 2 && samples[1]!.atMs < atMs - WINDOW_MS) samples.shift()
  }

  /** Grants per millisecond, or null while too little is known. */
  get rate(): number | null {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined) return null
    const elapsed = last.atMs - first.atMs
    const granted = last.grants - first.grants
    return elapsed > 0 && granted > 0 ? granted / elapsed : null
  }

  /** Milliseconds until the ticket at `position` (1 = next) may run: whole, ≥ 0, or null when unknown. */
  etaMs(position: number | null): number | null {
    const { rate } = this
    if (position === null || rate === null) return null
    return Math.max(0, Math.round(position / rate))
  }
}
