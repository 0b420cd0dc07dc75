import type { Entry, FaultKind } from '../entry.js'
import type { StormRecord, Violation } from './record.js'

/** How long after its end a process may still be the reason for a broken connection, and before its start for one that is refused. */
const AROUND_MS = 1000

/**
 * Promise 4, as clients, handlers and tickets see it: each request has one ending that has a reason, each handler runs for one request once and
 * ends once, each ticket ends once.
 */
export function checkEndings(record: StormRecord): Violation[] {
  return [...checkClients(record), ...checkVisits(record), ...checkTickets(record), ...checkFences(record)]
}

function checkClients(record: StormRecord): Violation[] {
  const violations: Violation[] = []
  const answers = groupBy(record.of('answered'), ({ request }) => request)
  const begins = groupBy(record.runs, ({ request }) => request)
  for (const asked of record.of('asked')) {
    const { request, atMs, kind } = asked
    const [answer, ...more] = answers.get(request) ?? []
    const runs = begins.get(request)?.length ?? 0
    const wrong = (detail: string): void => {
      violations.push({ rule: 'endings', atMs, detail: `${request} (${kind}) ${detail}` })
    }
    if (runs > 1) wrong(`was handled ${runs} times`)
    if (answer === undefined) {
      wrong('has no ending')
      continue
    }
    if (more.length > 0) wrong(`has ${more.length + 1} endings`)
    const { ending, detail = '', rose } = answer
    if (rose !== undefined) wrong(`was shown a position that rose: ${rose}`)
    if (ending === 'unanswered' || ending === 'odd') wrong(`ended: ${ending} ${detail}`)
    if ((ending === 'served' || ending === 'interrupted') && runs !== 1)
      wrong(`was ${ending}, and handled ${runs} times`)
    if (ending === 'refused' && runs > 0) wrong(`was refused (${answer.code}), and handled`)
    if ((ending === 'cut' || ending === 'unreachable') && !someServerEnded(record, asked, answer))
      wrong(`ended: ${ending} (${detail}), though no server did`)
  }
  return violations
}

const ENDS: ReadonlySet<FaultKind> = new Set(['kill', 'terminate'])

function someServerEnded(record: StormRecord, from: Entry, to: Entry): boolean {
  return record.faults.some(
    ({ kind, fromMs, toMs }) => ENDS.has(kind) && fromMs - AROUND_MS < to.atMs && toMs + AROUND_MS > from.atMs,
  )
}

function checkVisits(record: StormRecord): Violation[] {
  const violations: Violation[] = []
  const keyOf = ({ by, visit }: { readonly by: string; readonly visit: number }): string => `${by} ${visit}`
  const [began, ended, refused, closed] = [
    groupBy(record.of('began'), keyOf),
    groupBy(record.of('ended'), keyOf),
    groupBy(record.of('refused'), keyOf),
    groupBy(record.of('closed'), keyOf),
  ]
  for (const visit of record.of('arrived')) {
    const key = keyOf(visit)
    const [begins, ends, refusals, closes] = [began, ended, refused, closed].map((group) => group.get(key)?.length ?? 0)
    const wrong = (detail: string): void => {
      violations.push({ rule: 'endings', atMs: visit.atMs, detail: `visit ${key} of ${visit.request} ${detail}` })
    }
    if (begins! > 1) wrong(`began ${begins} times`)
    if (ends! > 1) wrong(`ended ${ends} times`)
    if (refusals! > 1) wrong(`was refused ${refusals} times`)
    if (begins! > 0 && refusals! > 0) wrong('was refused and began')
    // What a killed process did not get to is no fault of its own.
    if (endedByItself(record, visit.by)) {
      if (closes !== 1) wrong(`was closed ${closes} times`)
      if (begins !== ends) wrong('began and did not end')
    }
  }
  for (const run of record.of('began')) {
    if (!run.counted)
      violations.push({ rule: 'endings', atMs: run.atMs, detail: `visit ${keyOf(run)} ran without a place` })
  }
  return violations
}

function endedByItself(record: StormRecord, process: string): boolean {
  return record.exit(process)?.code === 0
}

function checkTickets(record: StormRecord): Violation[] {
  const violations: Violation[] = []
  const tickets = groupBy(record.of('ticket'), ({ by, ticket }) => `${by} ${ticket}`)
  for (const [key, events] of tickets) {
    const told = events.map(({ event }) => event)
    const [first, ...rest] = told
    const last = events.at(-1)!
    const isWhole =
      first === 'granted'
        ? rest.length === 1
          ? rest[0] === 'released' || rest[0] === 'leaseLost'
          : rest.length === 0 && !endedByItself(record, last.by)
        : rest.length === 0 && first !== 'released' && first !== 'leaseLost'
    if (!isWhole) violations.push({ rule: 'endings', atMs: last.atMs, detail: `ticket ${key}: ${told.join(', ')}` })
  }
  return violations
}

/** Fences of what the store has granted are all different, and grow (R2). */
function checkFences(record: StormRecord): Violation[] {
  const fences = groupBy(
    record.runs.filter(({ isLocal }) => !isLocal),
    ({ fence }) => fence,
  )
  return [...fences.values()]
    .filter(({ length }) => length > 1)
    .map((runs) => ({
      rule: 'endings',
      atMs: runs[0]!.beganMs,
      detail: `fence ${runs[0]!.fence} was given to ${runs.map(({ request, process }) => `${request} at ${process}`).join(' and ')}`,
    }))
}

function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
