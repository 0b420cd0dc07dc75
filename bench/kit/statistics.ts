/** The value below which `share` (0 to 1) of the numbers lie. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of each field. */
export function medians<Row extends Record<string, number>>(rows: readonly Row[]): Row {
  return Object.fromEntries(
    Object.keys(rows[0]!).map((field) => [field, median(rows.map((row) => row[field]!))]),
  ) as Row
}
