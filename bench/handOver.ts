// How long does a freed permit lie idle? From `release()` to the next ticket's grant with 50 waiters, against one no-op script call
// measured between the hand-overs.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Holds } from './handOver.process.js'
import { startRedis } from './kit/redisServer.js'
import { printGoals, printTable } from './kit/report.js'
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
async function measure(processes: 1 | 2): Promise<HandOver> {
  const server = await startRedis()
  const workers = await Promise.all(
    Array.from({ length: processes }, () => startWorker('handOver.process', { port: server.port })),
  )
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
    .toSorted((a, b) => a.fence - b.fence)
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

const within: HandOver[] = []
const across: HandOver[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  within.push(await measure(1))
  across.push(await measure(2))
}
printTable(
  `Hand-over with ${WAITERS} waiters; times as multiples of one no-op script call's p50`,
  ['', 'p50', 'p99', 'no-op µs', 'hand-overs'],
  [
    { what: 'in one process', rows: within },
    { what: 'to another process', rows: across },
  ].map(({ what, rows }) => [
    what,
    median(rows.map(({ p50 }) => p50)),
    median(rows.map(({ p99 }) => p99)),
    median(rows.map(({ noOpMs }) => noOpMs * 1000)),
    rows.reduce((sum, { count }) => sum + count, 0),
  ]),
)
const measured = (rows: HandOver[]): number => median(rows.map(({ p50 }) => p50))
printGoals('Hand-over', [
  { what: 'p50 × no-op, in one process', measured: measured(within), goal: 1.2, least: 1.4, better: 'lower' },
  { what: 'p50 × no-op, to another process', measured: measured(across), goal: 2, least: 2.5, better: 'lower' },
])
