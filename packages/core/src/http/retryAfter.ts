/** How a hint in milliseconds becomes a `Retry-After`. */
export interface RetryAfterTerms {
  /** No answer sends a client away for longer. */
  readonly maxMs: number
  /** 0 to 1: every answer adds a random share of up to so much of itself, so that those who were refused together do not return together. */
  readonly jitter: number
}

/** Said when nothing is known, e.g. in a line that has not moved yet. */
const UNKNOWN_MS = 5000

/** The seconds of a `Retry-After` (RFC 9110, 10.2.3): whole, rounded up, at least 1, at most `maxMs`. `random` is in 0 … 1. */
export function retryAfterSeconds(hintMs: number | null, { maxMs, jitter }: RetryAfterTerms, random: number): number {
  const ms = hintMs === null || Number.isNaN(hintMs) ? UNKNOWN_MS : hintMs
  const seconds = Math.ceil((ms * (1 + jitter * random)) / 1000)
  return Math.max(1, Math.min(seconds, Math.floor(maxMs / 1000)))
}
