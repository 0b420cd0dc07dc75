// Four processes share one line: are the permits kept busy, is the order kept, and what does a grant cost?
import { printGoals, printTable } from './kit/report.js'
import { serveLine, type LineSeen } from './kit/sharedLine.js'
import { medians } from './kit/statistics.js'

const WAITERS = 400
const ROUNDS = 3
const MEASURE_MS = 5000

const rounds: LineSeen[] = []
for (let round = 0; round < ROUNDS; round += 1) rounds.push(await serveLine(WAITERS, MEASURE_MS))
const seen = medians(rounds)
printTable(
  `4 processes, concurrency 8, hold 5 ms, ${WAITERS} waiting (medians of ${ROUNDS} rounds)`,
  ['', ''],
  Object.entries(seen),
)
printGoals('Four processes', [
  { what: 'permits busy', measured: seen.busyShare * 100, goal: 95, least: 92, better: 'higher', unit: ' %' },
  {
    what: "largest order inversion, by Redis' numbers",
    measured: Math.max(...rounds.map((row) => row.largestInversion)),
    goal: 0,
    least: 7,
    better: 'lower',
  },
  { what: 'Redis calls per grant', measured: seen.callsPerGrant, goal: 1.2, least: 2, better: 'lower' },
])
