// What does a request that need not wait pay for being one that would be told of its wait? Nothing of the early head may be made for it.
import { CONNECTIONS, compareGuards } from './kit/helloServers.js'
import { printGoals, printTable } from './kit/report.js'
import { median, medians } from './kit/statistics.js'

const ROUNDS = 11

const titles = { fairqueueSilent: "sse: 'never'", fairqueueTold: "sse: 'always'" } as const
type Contender = keyof typeof titles

const rows = await compareGuards(Object.keys(titles) as Contender[], { rounds: ROUNDS, seconds: 2 })
printTable(
  `Express says hello over ${CONNECTIONS} connections behind a queue with room (medians of ${ROUNDS} rounds)`,
  ['', 'requests/s', 'Node CPU µs'],
  (Object.keys(titles) as Contender[]).map((guard) => {
    const { perSecond, nodeUs } = medians(rows[guard])
    return [titles[guard], perSecond, nodeUs]
  }),
)
printGoals('Virtual head', [
  {
    what: 'requests/s, told × silent',
    measured: median(rows.fairqueueTold.map((row, round) => row.perSecond / rows.fairqueueSilent[round]!.perSecond)),
    goal: 1,
    least: 0.98,
    better: 'higher',
  },
])
