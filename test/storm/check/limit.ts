import { CLOCKS_MS, MEMORY_LOSSES, type Run, type StormRecord, type Violation } from './record.js'
import { spanAt } from './spans.js'

/** A fresh process may be let in beside those whom a store has forgotten, until one of them looks (R17); and as much for a busy machine. */
const FRESH_MS = 700
/** Who starts counts as one who knew nothing, if it was as late as this that it was ready. */
const STARTING_MS = 1500

/** How the limit was kept. */
export interface LimitFindings {
  readonly violations: readonly Violation[]
  /** Grants of the store. */
  readonly grants: number
  /** Those in whose moment somebody ran whom a documented window excuses. */
  readonly excused: number
  /** Over the limit, windows included: at most so many permits, and for so long at a time. */
  readonly worstPermits: number
  readonly longestMs: number
}

/**
 * Promise 1: whenever the store grants, all that has the right to run and the new one fit the limit. What a documented window excuses does not
 * count: whom the store may have given up in a silence, and who was let in without the store, until it knows. What a process lets in by itself
 * has to fit its share.
 */
export function checkLimit(record: StormRecord): LimitFindings {
  const violations: Violation[] = []
  let grants = 0
  let excused = 0
  const runs = record.runs.toSorted((a, b) => a.grantedMs - b.grantedMs || (a.fence < b.fence ? -1 : 1))
  let active: Run[] = []
  for (const run of runs) {
    const atMs = run.grantedMs
    active = active.filter(({ toMs }) => toMs > atMs + CLOCKS_MS)
    if (run.isLocal) violations.push(...checkShare(record, run))
    else {
      grants += 1
      const counted = active.filter((other) => !isExcused(record, other, atMs))
      if (counted.length < active.length) excused += 1
      const used = permits(counted) + run.permits
      const limit = Math.max(...record.limits({ fromMs: atMs - CLOCKS_MS, toMs: atMs + CLOCKS_MS }))
      if (used > limit && !isFresh(record, run))
        violations.push({
          rule: 'limit',
          atMs,
          detail: `${used} permits of ${limit} when ${describe(run)} was granted, beside ${counted.map(describe).join(', ')}`,
        })
    }
    active.push(run)
  }
  return { violations, grants, excused, ...worst(record, runs) }
}

function permits(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.permits, 0)
}

function describe({ process, request, number, fence, isLocal }: Run): string {
  return `${request} at ${process} (number ${number}, fence ${fence}${isLocal ? ', local' : ''})`
}

/** Whether the store need not know of a run at a moment. */
function isExcused(record: StormRecord, { process, isLocal, grantedMs }: Run, atMs: number): boolean {
  // Until the store has heard of it (R25).
  if (isLocal && atMs <= (spanAt(record.offs(process), grantedMs)?.toMs ?? -Infinity)) return true
  if (record.mayBeGivenUp(process, atMs)) return true
  // Its lease ended while its process stood still: it is told as soon as that goes on.
  return atMs >= grantedMs + record.terms.leaseMs - FRESH_MS && spanAt(record.stalls(process), atMs) !== undefined
}

/** Its process knew of nothing that was before the store lost its memory (R17). */
function isFresh(record: StormRecord, { process, grantedMs }: Run): boolean {
  return record.faults.some(({ kind, fromMs, toMs }) => {
    if (!MEMORY_LOSSES.has(kind) || record.startedMs(process) < fromMs - STARTING_MS) return false
    const quiet = spanAt(record.silences(process), toMs)?.toMs ?? toMs
    return grantedMs >= fromMs && grantedMs <= Math.max(toMs, quiet) + record.terms.livenessMs / 3 + FRESH_MS
  })
}

/** A process on its own lets in nobody beyond its share; what ran before counts. */
function checkShare(record: StormRecord, run: Run): Violation[] {
  const { process, beganMs } = run
  const told = record.of('alone').findLast(({ by, atMs }) => by === process && atMs <= beganMs)
  const share = told?.share ?? 0
  const beside = record.runs.filter(
    (other) =>
      other !== run && other.process === process && other.beganMs <= beganMs && other.toMs > beganMs + CLOCKS_MS,
  )
  const used = permits(beside) + run.permits
  if (used <= share) return []
  return [
    { rule: 'share', atMs: beganMs, detail: `${used} permits of a share of ${share} when ${describe(run)} was let in` },
  ]
}

/** All that ran with a right, or without one until it had ended, against the highest limit of its time. */
function worst(record: StormRecord, runs: readonly Run[]): Pick<LimitFindings, 'worstPermits' | 'longestMs'> {
  const steps = runs
    .flatMap((run) => [
      { atMs: run.beganMs, by: run.permits },
      { atMs: run.endedMs, by: -run.permits },
    ])
    .toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)
  let used = 0
  let sinceMs: number | undefined
  let worstPermits = 0
  let longestMs = 0
  // Under a lowered limit what ran before may go on: only where more were let in is the limit looked up.
  let limit = record.terms.concurrency
  for (const { atMs, by } of steps) {
    used += by
    if (by > 0) limit = Math.max(...record.limits({ fromMs: atMs - record.terms.leaseMs, toMs: atMs }))
    if (used > limit) {
      sinceMs ??= atMs
      worstPermits = Math.max(worstPermits, used - limit)
    } else if (sinceMs !== undefined) {
      longestMs = Math.max(longestMs, atMs - sinceMs)
      sinceMs = undefined
    }
  }
  return { worstPermits, longestMs }
}
