// Makes every component, serves a request on each, and has nothing more to do then: it has to end by itself, and tells how long that took.
import { FairQueue, MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'

/** `close`: everything is closed; `leave`: only the Redis clients are, which are not the library's. */
export type Ending = 'close' | 'leave'

const [, , ending, port] = process.argv as [string, string, Ending, string]

// Longer than Node's timers can take.
const long = { leaseMs: '30d', maxWaitMs: '60d', livenessMs: '30d', pollIntervalMs: '30d', storeTimeoutMs: '30d' }
const clients = [new Redis6(Number(port)), new (Redis5 as unknown as typeof Redis6)(Number(port))]
const stores = [new MemoryStore(), ...clients.map((redis) => new RedisStore({ redis }))]
const queues = [
  new FairQueue({ concurrency: 1, ...long }),
  ...stores.map((store) => new FairQueue({ name: 'every', store, concurrency: 1, bootGraceMs: 0, ...long })),
]

for (const queue of queues) {
  const first = await queue.acquire({ key: 'someone' })
  const next = queue.enter({ onStatus: () => undefined })
  const given = queue.enter({ signal: new AbortController().signal })
  await queue.status()
  given.cancel()
  await first.release()
  await (await next.granted).release()
}

if (ending === 'close') {
  for (const queue of queues) await queue.close()
  for (const store of stores) await store.close()
  // Once more changes nothing.
  await Promise.all([...queues, ...stores].map((closed) => closed.close()))
}
for (const redis of clients) redis.disconnect()

const doneAtMs = performance.now()
process.on('exit', () => console.log(performance.now() - doneAtMs))
