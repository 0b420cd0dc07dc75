// What does a route pay for standing behind a guard that lets everybody pass? Express says hello over 50 connections.
import { CONNECTIONS, compareGuards } from './kit/helloServers.js'
import { printGoals, printTable } from './kit/report.js'
import { median, medians } from './kit/statistics.js'

const ROUNDS = 7

const titles = {
  none: 'no middleware',
  fairqueueMemory: 'Fairqueue, memory store',
  flexibleMemory: 'rate-limiter-flexible, memory',
  expressRateLimitMemory: 'express-rate-limit, memory',
  fairqueueRedis: 'Fairqueue, Redis store',
  flexibleRedis: 'rate-limiter-flexible, Redis',
  expressRateLimitRedis: 'rate-limit-redis',
} as const
type Contender = keyof typeof titles
const guards = Object.keys(titles) as Contender[]

const rows = await compareGuards(guards, { rounds: ROUNDS, seconds: 2 })
const ratio = (guard: Contender): number =>
  median(rows[guard].map((row, round) => row.perSecond / rows.none[round]!.perSecond))
printTable(
  `Express says hello over ${CONNECTIONS} connections (medians of ${ROUNDS} rounds)`,
  ['', 'requests/s', '× no middleware', 'Node CPU µs', 'more than without'],
  guards.map((guard) => {
    const { perSecond, nodeUs } = medians(rows[guard])
    return [titles[guard], perSecond, ratio(guard), nodeUs, nodeUs - medians(rows.none).nodeUs]
  }),
)
printGoals('Express, requests/s × no middleware', [
  { what: 'memory store', measured: ratio('fairqueueMemory'), goal: 0.95, least: 0.92, better: 'higher' },
  { what: 'Redis store', measured: ratio('fairqueueRedis'), goal: 0.88, least: 0.8, better: 'higher' },
])
