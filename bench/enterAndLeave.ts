// What does a request pay that need not wait? N closed loops of `run` against the floor: two no-op script calls. Beside it acquire and
// release, where the caller waits for the release's answer too.
import { FairQueue } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis } from 'ioredis'
import { readScriptCalls, resetCommandStats } from './kit/commandStats.js'
import { startRedis } from './kit/redisServer.js'
import { printGoals, printTable, type Goal } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { median, medians } from './kit/statistics.js'

const ROUND_MS = 1000
const ROUNDS = 5

interface Cost extends Record<string, number> {
  readonly perSecond: number
  readonly calls: number
  readonly redisUs: number
  readonly nodeUs: number
}

const GOALS: Readonly<Record<number, { readonly goal: number; readonly least: number }>> = {
  1: { goal: 0.9, least: 0.75 },
  64: { goal: 3.5, least: 2 },
  512: { goal: 6, least: 3.5 },
}

const server = await startRedis()
const observer = new Redis(server.port)

/** Runs `inFlight` closed loops for a while: what one request costs. */
async function measure(inFlight: number, request: () => Promise<unknown>): Promise<Cost> {
  let requests = 0
  let goOn = true
  await resetCommandStats(observer)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  setTimeout(() => {
    goOn = false
  }, ROUND_MS)
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (goOn) {
        await request()
        requests += 1
      }
    }),
  )
  const ms = performance.now() - startedAt
  const cpu = process.cpuUsage(cpuBefore)
  const { calls, microseconds } = await readScriptCalls(observer)
  return {
    perSecond: (requests / ms) * 1000,
    calls: calls / requests,
    redisUs: microseconds / requests,
    nodeUs: (cpu.user + cpu.system) / requests,
  }
}

function twoNoOps(redis: Redis, sha: string): () => Promise<unknown> {
  return async () => {
    await redis.evalsha(sha, 1, 'key', 'argument')
    await redis.evalsha(sha, 1, 'key', 'argument')
  }
}

const sha = (await observer.script('LOAD', 'return 1')) as string
const plain = new Redis(server.port)
const pipelined = new Redis(server.port, { enableAutoPipelining: true })
const redis = new Redis(server.port)
const store = new RedisStore({ redis })
const queue = new FairQueue({ name: 'bench', concurrency: 1000, store, bootGraceMs: 0 })

const nothing = (): void => {}
const run = (): Promise<void> => queue.run(nothing)
const acquireAndRelease = async (): Promise<void> => {
  const lease = await queue.acquire()
  await lease.release()
}

const goals: Goal[] = []
for (const inFlight of [1, 64, 512]) {
  const rows = await interleave(
    {
      floor: () => measure(inFlight, twoNoOps(plain, sha)),
      pipelinedFloor: () => measure(inFlight, twoNoOps(pipelined, sha)),
      run: () => measure(inFlight, run),
      acquire: () => measure(inFlight, acquireAndRelease),
    },
    { warmUps: 1, rounds: ROUNDS },
  )
  const ratio = (of: Cost[], to: Cost[], field: string): number =>
    median(of.map((row, round) => row[field]! / to[round]![field]!))
  const titles = {
    floor: 'floor: two no-op EVALSHA',
    pipelinedFloor: 'floor, auto-pipelined',
    run: 'Fairqueue, run',
    acquire: 'Fairqueue, acquire + release',
  }
  printTable(
    `${inFlight} in flight, per request`,
    ['', 'requests/s × floor', '× pipelined', 'Redis calls', 'Redis µs', 'Node CPU µs', '× floor'],
    (['floor', 'pipelinedFloor', 'run', 'acquire'] as const).map((name) => {
      const { calls, redisUs, nodeUs } = medians(rows[name])
      const speed = (to: Cost[]): number => ratio(rows[name], to, 'perSecond')
      return [
        titles[name],
        speed(rows.floor),
        speed(rows.pipelinedFloor),
        calls,
        redisUs,
        nodeUs,
        ratio(rows[name], rows.floor, 'nodeUs'),
      ]
    }),
  )
  const measured = ratio(rows.run, rows.floor, 'perSecond')
  goals.push({ what: `requests/s × floor, ${inFlight} in flight`, measured, ...GOALS[inFlight]!, better: 'higher' })
  if (inFlight === 64) {
    const cpu = ratio(rows.run, rows.floor, 'nodeUs')
    goals.push({
      what: 'Node CPU per request × floor, 64 in flight',
      measured: cpu,
      goal: 0.2,
      least: 0.35,
      better: 'lower',
    })
  }
}
printGoals('Enter and leave', goals)

await queue.close()
for (const client of [plain, pipelined, redis, observer]) client.disconnect()
await server.stop()
