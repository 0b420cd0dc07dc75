// How long does a freed permit lie idle? From the release to the next ticket's grant with 50 waiters, against one no-op script call
// measured between the hand-overs. Beside it the least that is still a fair shared line.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HandOverConfig, Holds } from './handOver.process.js'
import { Redis } from 'ioredis'
import { FloorLine } from './kit/floorLine.js'
import type { Contender } from './kit/line.js'
import { startRedis } from './kit/redisServer.js'
import { printGoals, printTable } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { median, quantile } from './kit/statistics.js'
import { ask, startWorker, stopWorker } from './kit/workers.js'

const WAITERS = 50
const MEASURE_MS = 3000
const ROUNDS = 3

interface HandOver {
  readonly noOpMs: number
  readonly p50: number
  readonly p99: number
  readonly count: number
}

/** `processes` processes take turns; only hand-overs from one to the other count where there are two. */
async function measure(contender: Contender, processes: 1 | 2): Promise<HandOver> {
  const server = await startRedis()
  if (contender === 'floor') await prepareFloor(server.port)
  const config: HandOverConfig = { contender, port: server.port }
  const workers = await Promise.all(Array.from({ length: processes }, () => startWorker('handOver.process', config)))
  for (let waiter = 0; waiter <= WAITERS; waiter += 1) await ask(workers[waiter % processes]!, 'enter')
  await sleep(1000)
  for (const worker of workers) await ask(worker, 'reset')
  await sleep(MEASURE_MS)
  const seen = await Promise.all(workers.map((worker) => ask<Holds>(worker, 'report')))
  await Promise.all(workers.map(stopWorker))
  await server.stop()

  const noOpsMs = seen.flatMap((of) => of.noOpsMs)
  const holds = seen
    .flatMap((of, worker) => of.holds.map((hold) => ({ ...hold, worker })))
    .toSorted((a, b) => a.grant - b.grant)
  const handOversMs = holds.slice(1).flatMap((hold, index) => {
    const before = holds[index]!
    return processes === 2 && before.worker === hold.worker ? [] : [hold.grantedAtMs - before.releasedAtMs]
  })
  const noOpMs = median(noOpsMs)
  return {
    noOpMs,
    p50: median(handOversMs) / noOpMs,
    p99: quantile(handOversMs, 0.99) / noOpMs,
    count: handOversMs.length,
  }
}

async function prepareFloor(port: number): Promise<void> {
  const redis = new Redis(port)
  await FloorLine.prepare(redis, 1)
  redis.disconnect()
}

const rows = await interleave(
  {
    within: () => measure('fairqueue', 1),
    floorWithin: () => measure('floor', 1),
    across: () => measure('fairqueue', 2),
    floorAcross: () => measure('floor', 2),
  },
  { warmUps: 0, rounds: ROUNDS },
)
const titles = {
  within: 'in one process',
  floorWithin: '… the floor queue',
  across: 'to another process',
  floorAcross: '… the floor queue',
}
printTable(
  `Hand-over with ${WAITERS} waiters; times as multiples of one no-op script call's p50`,
  ['', 'p50', 'p99', 'no-op µs', 'hand-overs'],
  (Object.keys(titles) as (keyof typeof titles)[]).map((name) => [
    titles[name],
    median(rows[name].map(({ p50 }) => p50)),
    median(rows[name].map(({ p99 }) => p99)),
    median(rows[name].map(({ noOpMs }) => noOpMs * 1000)),
    rows[name].reduce((sum, { count }) => sum + count, 0),
  ]),
)
const measured = (of: HandOver[]): number => median(of.map(({ p50 }) => p50))
printGoals('Hand-over', [
  { what: 'p50 × no-op, in one process', measured: measured(rows.within), goal: 1.2, least: 1.4, better: 'lower' },
  { what: 'p50 × no-op, to another process', measured: measured(rows.across), goal: 2, least: 2.5, better: 'lower' },
])
