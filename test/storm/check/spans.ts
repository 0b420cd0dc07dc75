/** A stretch of time in ms, both ends included. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** The same time without overlaps, in order. */
export function merged(spans: readonly Span[]): Span[] {
  const result: { fromMs: number; toMs: number }[] = []
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = result.at(-1)
    if (last === undefined || fromMs > last.toMs) result.push({ fromMs, toMs })
    else last.toMs = Math.max(last.toMs, toMs)
  }
  return result
}

/** The span that holds a moment. */
export function spanAt(spans: readonly Span[], atMs: number): Span | undefined {
  return spans.find(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
}
