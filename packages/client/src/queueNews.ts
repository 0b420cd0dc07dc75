/** Where a request stands. */
export interface QueueNews {
  /**
   * `waiting`: in the line · `admitted`: its turn has come, the answer follows · `refused`: sent away for now (the line is full, say); it
   * comes back by itself after `etaMs`
   */
  readonly state: 'waiting' | 'admitted' | 'refused'
  /** 1 is the next, 0 when admitted; null when it is not known, or when the request stands in no line. */
  readonly position: number | null
  /** Milliseconds, at least 0; null when nothing is known. */
  readonly etaMs: number | null
}
