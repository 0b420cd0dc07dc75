/** A length of time: milliseconds as a number, or a string such as `'250ms'`, `'20s'`, `'1.5m'`, `'2h'`, `'1d'`. */
export type Duration = number | string

const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** 285,000 years: beyond it times are no longer exact, and no store can hold them. */
const LONGEST_MS = Number.MAX_SAFE_INTEGER

/**
 * Reads a {@link Duration}.
 * @returns milliseconds (0 to 2^53 − 1), or `undefined` when the value is none (`'5'` has no unit and is refused; so are NaN, Infinity and negatives).
 */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && value <= LONGEST_MS ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = PATTERN.exec(value)
  if (match === null) return undefined
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  return ms <= LONGEST_MS ? ms : undefined
}
