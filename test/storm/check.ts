import { checkEndings } from './check/endings.js'
import { checkLeftovers } from './check/leftovers.js'
import { checkLimit, type LimitFindings } from './check/limit.js'
import { checkOrder } from './check/order.js'
import { checkProgress } from './check/progress.js'
import { StormRecord, type Violation } from './check/record.js'
import type { Entry } from './entry.js'

/** What the checker found. */
export interface Report {
  readonly record: StormRecord
  readonly violations: readonly Violation[]
  readonly limit: LimitFindings
  readonly ordered: number
  readonly longestStallMs: number
}

/** Reads from what all have written down whether the promises held. */
export function check(entries: readonly Entry[]): Report {
  const record = new StormRecord(entries)
  const limit = checkLimit(record)
  const order = checkOrder(record)
  const progress = checkProgress(record)
  const violations = [
    ...limit.violations,
    ...order.violations,
    ...checkEndings(record),
    ...progress.violations,
    ...checkLeftovers(record),
  ].toSorted((a, b) => a.atMs - b.atMs)
  return { record, violations, limit, ordered: order.grants, longestStallMs: progress.longestStallMs }
}
