import type { StormRecord, Violation } from './record.js'

/** How the order was kept. */
export interface OrderFindings {
  readonly violations: readonly Violation[]
  readonly grants: number
}

/**
 * Promise 2: nobody is granted by the store while somebody with a lower arrival number stands in its line. What the line is at each moment comes
 * from the store itself, so whoever is away (cut off, given up, not back yet after a loss) is not in it.
 */
export function checkOrder(record: StormRecord): OrderFindings {
  const violations: Violation[] = []
  const line = new Map<string, number>()
  const granted = new Set<string>()
  let grants = 0
  for (const entry of record.entries) {
    if (entry.what === 'memoryGone') {
      line.clear()
      granted.clear()
    } else if (entry.what === 'lined') {
      for (const { number, permits } of entry.tickets) {
        line.set(number, permits)
        granted.delete(number)
      }
    } else if (entry.what === 'unlined') {
      for (const { number } of entry.tickets) line.delete(number)
    } else if (entry.what === 'granted') {
      const limit = Math.min(...record.limits({ fromMs: entry.atMs, toMs: entry.atMs }))
      for (const { number } of entry.tickets) {
        line.delete(number)
        // Who is granted again claims what was held for it.
        if (granted.has(number)) continue
        granted.add(number)
        grants += 1
        const overtaken = lowest(line, limit)
        if (overtaken !== undefined && overtaken < number)
          violations.push({ rule: 'order', atMs: entry.atMs, detail: `${number} was granted before ${overtaken}` })
      }
    }
  }
  return { violations, grants }
}

/** The first in the line whom the limit allows (R8). Numbers have 16 digits, so texts in order are numbers in order. */
function lowest(line: ReadonlyMap<string, number>, limit: number): string | undefined {
  let first: string | undefined
  for (const [number, permits] of line) if (permits <= limit && (first === undefined || number < first)) first = number
  return first
}
