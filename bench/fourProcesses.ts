// Four processes share one line: are the permits kept busy, is the order kept, and what does a grant cost? Beside it the least that is
// still a fair shared line.
import { printGoals, printTable } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { serveLine } from './kit/sharedLine.js'
import { median, medians } from './kit/statistics.js'

const WAITERS = 400
const ROUNDS = 3
const MEASURE_MS = 4000

const rows = await interleave(
  {
    fairqueue: () => serveLine('fairqueue', WAITERS, MEASURE_MS),
    floor: () => serveLine('floor', WAITERS, MEASURE_MS),
  },
  { warmUps: 0, rounds: ROUNDS },
)
const seen = medians(rows.fairqueue)
const floor = medians(rows.floor)
printTable(
  `4 processes, concurrency 8, hold 5 ms, ${WAITERS} waiting (medians of ${ROUNDS} rounds)`,
  ['', 'Fairqueue', 'floor queue'],
  Object.entries(seen).map(([name, value]) => [name, value, floor[name as keyof typeof floor]!]),
)
printGoals('Four processes', [
  { what: 'permits busy', measured: seen.busyShare * 100, goal: 95, least: 92, better: 'higher', unit: ' %' },
  {
    what: "permits busy × the floor queue's",
    measured: median(rows.fairqueue.map(({ busyShare }, round) => busyShare / rows.floor[round]!.busyShare)),
    goal: 1,
    least: 0.97,
    better: 'higher',
  },
  {
    what: "largest order inversion, by Redis' numbers",
    measured: Math.max(...rows.fairqueue.map((row) => row.largestInversion)),
    goal: 0,
    least: 7,
    better: 'lower',
  },
  { what: 'Redis calls per grant', measured: seen.callsPerGrant, goal: 1.2, least: 2, better: 'lower' },
])
