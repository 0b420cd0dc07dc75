import type { ChildProcess } from 'node:child_process'
import type { Guard, HelloAnswer, HelloConfig } from '../hello.process.js'
import type { LoadOrder, LoadSeen } from '../load.process.js'
import { startRedis } from './redisServer.js'
import { interleave } from './rounds.js'
import { ask, startWorker, stopWorker } from './workers.js'

export const CONNECTIONS = 50
/** A server is as fast as it gets only after so many answers, however long they take. */
const WARM_UP_ANSWERS = 20_000

/** What a guard costs. */
export interface Cost extends Record<string, number> {
  readonly perSecond: number
  readonly nodeUs: number
}

/** Express says hello behind each of the guards, in turn, for so many rounds of so many seconds. */
export async function compareGuards<Name extends Guard>(
  guards: readonly Name[],
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Record<Name, Cost[]>> {
  const redis = await startRedis()
  const load = await startWorker('load.process', {})
  const servers = new Map<Name, ChildProcess>()
  for (const guard of guards) {
    servers.set(guard, await startWorker('hello.process', { guard, port: redis.port } satisfies HelloConfig))
  }

  async function loadOnce(port: number): Promise<LoadSeen> {
    const order: LoadOrder = { port, connections: CONNECTIONS, seconds }
    const seen = await ask<LoadSeen>(load, order)
    if (seen.failures > 0) throw new Error(`${seen.failures} requests failed`)
    return seen
  }

  async function measure(server: ChildProcess): Promise<Cost> {
    const before = await ask<HelloAnswer>(server, 'tell')
    const { answers, perSecond } = await loadOnce(before.port)
    const after = await ask<HelloAnswer>(server, 'tell')
    return { perSecond, nodeUs: (after.cpuUs - before.cpuUs) / answers }
  }

  for (const server of servers.values()) {
    const { port } = await ask<HelloAnswer>(server, 'tell')
    for (let answers = 0; answers < WARM_UP_ANSWERS;) answers += (await loadOnce(port)).answers
  }
  const contenders = Object.fromEntries(guards.map((guard) => [guard, () => measure(servers.get(guard)!)]))
  const rows = await interleave(contenders as Record<Name, () => Promise<Cost>>, { warmUps: 0, rounds })
  await Promise.all([load, ...servers.values()].map(stopWorker))
  await redis.stop()
  return rows
}
