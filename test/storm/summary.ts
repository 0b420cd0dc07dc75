import type { Report } from './check.js'

/** The report as text: what was done, what became of it, and what was wrong. */
export function summary({ record, violations, limit, ordered, longestStallMs }: Report): string {
  const startMs = record.entries[0]?.atMs ?? 0
  const clients = record.of('answered').map(({ ending, code }) => (code === undefined ? ending : `${ending} ${code}`))
  const runs = record.runs.length
  const local = record.runs.filter(({ isLocal }) => isLocal).length
  const lines = [
    ['faults', counts(record.faults.map(({ kind }) => kind))],
    ['requests', `${record.of('asked').length} (${counts(record.of('asked').map(({ kind }) => kind))})`],
    ['endings', counts(clients)],
    ['runs', `${runs}, ${local} of them let in without the store, ${record.of('lost').length} leases lost`],
    ['limits set', counts(record.of('configure').map(({ how }) => how))],
    ['limit checked', `at ${limit.grants} grants, at ${limit.excused} of them a window excused somebody`],
    ['order checked', `at ${ordered} grants`],
    [
      'over the limit',
      `at most ${limit.worstPermits} permits, for at most ${Math.round(limit.longestMs)} ms (windows)`,
    ],
    ['longest stall', `${Math.round(longestStallMs)} ms (faults included)`],
    ['longest lags', lags(record)],
    ['violations', violations.length === 0 ? 'none' : counts(violations.map(({ rule }) => rule))],
  ] as const
  const table = lines.map(([name, value]) => `${name.padEnd(16)}${value}`)
  const found = violations
    .slice(0, 30)
    .map(({ rule, atMs, detail }) => `  ${((atMs - startMs) / 1000).toFixed(3)} s  ${rule}: ${detail.slice(0, 1500)}`)
  return [...table, ...found].join('\n')
}

function counts(names: readonly string[]): string {
  const numbers = new Map<string, number>()
  for (const name of names) numbers.set(name, (numbers.get(name) ?? 0) + 1)
  return [...numbers]
    .toSorted((a, b) => b[1] - a[1])
    .map(([name, number]) => `${number} ${name}`)
    .join(', ')
}

function lags(record: Report['record']): string {
  const longest = new Map<string, number>()
  for (const { what, by, fromMs, atMs } of [...record.of('lag'), ...record.of('storeLag')]) {
    const who = what === 'storeLag' ? 'store' : by === 'storm' ? 'storm' : 'servers'
    longest.set(who, Math.max(longest.get(who) ?? 0, atMs - fromMs))
  }
  return [...longest].map(([who, ms]) => `${who} ${Math.round(ms)} ms`).join(', ') || 'none'
}
