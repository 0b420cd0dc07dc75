import type { StormRecord, Violation } from './record.js'
import { merged } from './spans.js'

/** How the line moved. */
export interface ProgressFindings {
  readonly violations: readonly Violation[]
  /** Longest time in which no handler began, faults included. */
  readonly longestStallMs: number
}

/**
 * Promise 5: when nothing is broken any more, the line moves on at the latest when the dead are known to be dead (`livenessMs`, and two thirds of it
 * after a silence of all) and the longest lease has ended. (There is always somebody in the line while the storm lasts.)
 */
export function checkProgress(record: StormRecord): ProgressFindings {
  const { livenessMs, leaseMs } = record.terms
  const boundMs = (livenessMs * 5) / 3 + leaseMs
  const begins = record.of('began').map(({ atMs }) => atMs)
  const faults = merged(record.faults)
  const violations: Violation[] = []
  let longestStallMs = 0
  for (const [index, fromMs] of begins.entries()) {
    const toMs = begins[index + 1]
    if (toMs === undefined) continue
    longestStallMs = Math.max(longestStallMs, toMs - fromMs)
    const healedMs = Math.max(fromMs, ...faults.filter((fault) => fault.fromMs < toMs).map((fault) => fault.toMs))
    if (toMs - healedMs > boundMs)
      violations.push({
        rule: 'progress',
        atMs: fromMs,
        detail: `nobody was let in for ${Math.round(toMs - healedMs)} ms though nothing was broken`,
      })
  }
  return { violations, longestStallMs }
}
