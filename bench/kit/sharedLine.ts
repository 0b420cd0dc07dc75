import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold, LineConfig } from '../line.process.js'
import { readScriptCalls, resetCommandStats } from './commandStats.js'
import { FloorLine } from './floorLine.js'
import type { Contender } from './line.js'
import { machineNow } from './monotonic.js'
import { startRedis } from './redisServer.js'
import { ask, startWorker, stopWorker } from './workers.js'

const PROCESSES = 4
const CONCURRENCY = 8
const HOLD_MS = 5

/** What happened while a full line was served by four processes. */
export interface LineSeen extends Record<string, number> {
  readonly grantsPerSecond: number
  /** Share of the time for which permits were held, by the clocks of the processes that held them. */
  readonly busyShare: number
  readonly callsPerGrant: number
  readonly redisUsPerGrant: number
  /** By how many that arrived later a ticket was overtaken at most, by Redis' own numbers. */
  readonly largestInversion: number
  /** The same by the moments at which work began: the granted eight start within one another's noise. */
  readonly largestStartInversion: number
}

/** Four processes, concurrency 8, hold 5 ms, with `waiters` tickets always waiting, for a while. */
export async function serveLine(contender: Contender, waiters: number, measureMs: number): Promise<LineSeen> {
  const server = await startRedis()
  const observer = new Redis(server.port)
  const loops = Math.ceil((waiters + CONCURRENCY) / PROCESSES)
  if (contender === 'floor') await FloorLine.prepare(observer, CONCURRENCY)
  const config: LineConfig = { contender, port: server.port, concurrency: CONCURRENCY, holdMs: HOLD_MS, loops }
  const workers = await Promise.all(Array.from({ length: PROCESSES }, () => startWorker('line.process', config)))

  await Promise.all(workers.map((worker) => ask(worker, 'start')))
  await sleep(1000)

  await Promise.all(workers.map((worker) => ask(worker, 'record')))
  await resetCommandStats(observer)
  const fromMs = machineNow()
  await sleep(measureMs)
  const { calls, microseconds } = await readScriptCalls(observer)
  const toMs = machineNow()
  await sleep(10 * HOLD_MS)
  const holds = (await Promise.all(workers.map((worker) => ask<Hold[]>(worker, 'report')))).flat()

  await Promise.all(workers.map(stopWorker))
  observer.disconnect()
  await server.stop()

  const grants = holds.filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < toMs).length
  const heldMs = holds.reduce(
    (sum, { startedAtMs, endedAtMs }) => sum + overlap(startedAtMs, endedAtMs, fromMs, toMs),
    0,
  )
  return {
    grantsPerSecond: (grants / (toMs - fromMs)) * 1000,
    busyShare: heldMs / (CONCURRENCY * (toMs - fromMs)),
    callsPerGrant: calls / grants,
    redisUsPerGrant: microseconds / grants,
    largestInversion: largestInversion(holds, ({ grant }) => grant),
    largestStartInversion: largestInversion(holds, ({ startedAtMs }) => startedAtMs),
  }
}

function overlap(fromA: number, toA: number, fromB: number, toB: number): number {
  return Math.max(0, Math.min(toA, toB) - Math.max(fromA, fromB))
}

/** How far behind its rank by arrival a ticket came at most when they are ranked by `turn`. */
function largestInversion(holds: readonly Hold[], turn: (hold: Hold) => number): number {
  const byTurn = holds.toSorted((a, b) => turn(a) - turn(b))
  const rankByArrival = new Map(holds.toSorted((a, b) => a.arrival - b.arrival).map((hold, rank) => [hold, rank]))
  return byTurn.reduce((largest, hold, rank) => Math.max(largest, rank - rankByArrival.get(hold)!), 0)
}
