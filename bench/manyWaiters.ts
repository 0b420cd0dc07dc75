// Does a long line cost more than a short one? The four processes with 100 to 100,000 waiters, against the smallest of them.
import { printGoals, printTable, type Goal } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { serveLine, type LineSeen } from './kit/sharedLine.js'
import { median, medians } from './kit/statistics.js'

const ROUNDS = 3
const MEASURE_MS = 3000
const SMALLEST = '100'

const lines = { [SMALLEST]: 100, '1,000': 1000, '10,000': 10_000, '100,000': 100_000 }
const rows = await interleave(
  Object.fromEntries(
    Object.entries(lines).map(([title, waiters]) => [title, () => serveLine('fairqueue', waiters, MEASURE_MS)]),
  ),
  { warmUps: 0, rounds: ROUNDS },
)

function toSmallest(title: string, field: keyof LineSeen): number {
  return median(rows[title]!.map((row, round) => row[field]! / rows[SMALLEST]![round]![field]!))
}

printTable(
  `4 processes, concurrency 8, hold 5 ms (medians of ${ROUNDS} rounds)`,
  ['waiting', 'grants/s', '× smallest', 'permits busy %', 'Redis calls/grant', 'Redis µs/grant', '× smallest'],
  Object.keys(lines).map((title) => {
    const { grantsPerSecond, busyShare, callsPerGrant, redisUsPerGrant } = medians(rows[title]!)
    return [
      title,
      grantsPerSecond,
      toSmallest(title, 'grantsPerSecond'),
      busyShare * 100,
      callsPerGrant,
      redisUsPerGrant,
      toSmallest(title, 'redisUsPerGrant'),
    ]
  }),
)
printGoals(
  `Many waiters, × ${SMALLEST} waiters`,
  Object.keys(lines)
    .filter((title) => title !== SMALLEST)
    .flatMap((title): Goal[] => [
      {
        what: `grants/s, ${title} waiting`,
        measured: toSmallest(title, 'grantsPerSecond'),
        goal: 0.9,
        least: 0.8,
        better: 'higher',
      },
      {
        what: `Redis µs per grant, ${title} waiting`,
        measured: toSmallest(title, 'redisUsPerGrant'),
        goal: 1.1,
        least: 1.2,
        better: 'lower',
      },
    ]),
)
