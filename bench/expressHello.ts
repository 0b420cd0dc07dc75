// What does a route pay for standing behind a guard that lets everybody pass? Express says hello over 50 connections.
import type { ChildProcess } from 'node:child_process'
import type { Guard, HelloAnswer, HelloConfig } from './hello.process.js'
import { startRedis } from './kit/redisServer.js'
import { printGoals, printTable } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { median, medians } from './kit/statistics.js'
import { ask, startWorker, stopWorker } from './kit/workers.js'
import type { LoadOrder, LoadSeen } from './load.process.js'

const CONNECTIONS = 50
/** A server is as fast as it gets only after so many answers, however long they take. */
const WARM_UP_ANSWERS = 20_000
const ROUND_SECONDS = 2
const ROUNDS = 7

const titles: Readonly<Record<Guard, string>> = {
  none: 'no middleware',
  fairqueueMemory: 'Fairqueue, memory store',
  flexibleMemory: 'rate-limiter-flexible, memory',
  expressRateLimitMemory: 'express-rate-limit, memory',
  fairqueueRedis: 'Fairqueue, Redis store',
  flexibleRedis: 'rate-limiter-flexible, Redis',
  expressRateLimitRedis: 'rate-limit-redis',
}
const guards = Object.keys(titles) as Guard[]

interface Cost extends Record<string, number> {
  readonly perSecond: number
  readonly nodeUs: number
}

const redis = await startRedis()
const load = await startWorker('load.process', {})
const servers = new Map<Guard, ChildProcess>()
for (const guard of guards) {
  servers.set(guard, await startWorker('hello.process', { guard, port: redis.port } satisfies HelloConfig))
}

async function loadOnce(port: number): Promise<LoadSeen> {
  const order: LoadOrder = { port, connections: CONNECTIONS, seconds: ROUND_SECONDS }
  const seen = await ask<LoadSeen>(load, order)
  if (seen.failures > 0) throw new Error(`${seen.failures} requests failed`)
  return seen
}

async function warmUp(server: ChildProcess): Promise<void> {
  const { port } = await ask<HelloAnswer>(server, 'tell')
  for (let answers = 0; answers < WARM_UP_ANSWERS;) answers += (await loadOnce(port)).answers
}

async function measure(server: ChildProcess): Promise<Cost> {
  const before = await ask<HelloAnswer>(server, 'tell')
  const { answers, perSecond } = await loadOnce(before.port)
  const after = await ask<HelloAnswer>(server, 'tell')
  return { perSecond, nodeUs: (after.cpuUs - before.cpuUs) / answers }
}

for (const server of servers.values()) await warmUp(server)
const rows = await interleave(
  Object.fromEntries(guards.map((guard) => [guard, () => measure(servers.get(guard)!)])) as Record<
    Guard,
    () => Promise<Cost>
  >,
  { warmUps: 0, rounds: ROUNDS },
)
const ratio = (guard: Guard): number =>
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

await Promise.all([load, ...servers.values()].map(stopWorker))
await redis.stop()
