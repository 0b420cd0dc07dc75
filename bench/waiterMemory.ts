// What memory does a waiting ticket take, in Redis and in its own process?
import { Redis } from 'ioredis'
import { startRedis } from './kit/redisServer.js'
import { printGoals, printTable } from './kit/report.js'
import { ask, startWorker, stopWorker } from './kit/workers.js'
import type { WaitersConfig } from './waiters.process.js'

const WAITERS = 50_000

interface Bytes {
  readonly heap: number
  /** What Redis counts for the queue's keys. */
  readonly keys: number
  /** By how much all that Redis uses has grown. */
  readonly redis: number
}

async function measure(config: Omit<WaitersConfig, 'port' | 'waiters'>, store: 'Redis' | 'memory'): Promise<Bytes> {
  const server = await startRedis()
  const observer = new Redis(server.port)
  const port = store === 'Redis' ? server.port : null
  const worker = await startWorker('waiters.process', { ...config, port, waiters: WAITERS }, ['--expose-gc'])
  const before = await usedMemory(observer)
  const heap = await ask<number>(worker, 'measure')
  const keys = await sizeOfKeys(observer)
  const grown = (await usedMemory(observer)) - before
  await stopWorker(worker)
  observer.disconnect()
  await server.stop()
  return { heap, keys: keys / WAITERS, redis: grown / WAITERS }
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
}

async function sizeOfKeys(redis: Redis): Promise<number> {
  let bytes = 0
  for (const key of await redis.keys('fairqueue:*')) {
    bytes += Number(await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'))
  }
  return bytes
}

const rows: (readonly [string, ...number[]])[] = []
const largest = { redis: 0, enter: 0, acquire: 0 }
for (const store of ['Redis', 'memory'] as const) {
  for (const call of ['enter', 'acquire'] as const) {
    for (const keyed of [false, true]) {
      const { heap, keys, redis } = await measure({ call, keyed }, store)
      const title = `${store} store, ${call}(), ${keyed ? 'a key of 12 letters' : 'no key'}`
      rows.push(store === 'Redis' ? [title, heap, keys, redis] : [title, heap])
      largest[call] = Math.max(largest[call], heap)
      if (store === 'Redis') largest.redis = Math.max(largest.redis, keys, redis)
    }
  }
}
printTable(`Bytes per waiting ticket, ${WAITERS} waiting`, ['', 'Node heap', 'Redis, keys', 'Redis, all'], rows)
const heapGoal = { goal: 1024, least: 2048, better: 'lower', unit: ' B' } as const
printGoals('Memory per waiter, the largest of its rows', [
  { what: 'Redis', measured: largest.redis, goal: 150, least: 200, better: 'lower', unit: ' B' },
  { what: 'Node heap, enter()', measured: largest.enter, ...heapGoal },
  { what: 'Node heap, acquire()', measured: largest.acquire, ...heapGoal },
])
