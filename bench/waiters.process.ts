// Lets tickets wait that nobody serves, and tells what they take of this process' heap. Needs --expose-gc.
import { FairQueue, MemoryStore, type Lease, type Ticket } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitersConfig {
  /** Where the line lives: a Redis on this port, or in this process. */
  readonly port: number | null
  readonly keyed: boolean
  /** What a caller holds: the promise of `acquire()`, or the ticket of `enter()`. */
  readonly call: 'acquire' | 'enter'
  readonly waiters: number
}

const { port, keyed, call, waiters } = JSON.parse(process.argv[2]!) as WaitersConfig
const redis = port === null ? null : new Redis(port)
const queue = new FairQueue({
  name: 'bench',
  concurrency: 0,
  maxQueueSize: Infinity,
  maxWaitMs: '1h',
  storeTimeoutMs: '1m',
  store: redis === null ? new MemoryStore() : new RedisStore({ redis }),
  bootGraceMs: 0,
})
const held: (Promise<Lease> | Ticket | null)[] = Array.from({ length: waiters }, () => null)

async function heapBytes(): Promise<number> {
  // What the last calls left for later must be gone first.
  await sleep(200)
  for (let time = 0; time < 3; time += 1) globalThis.gc!()
  return process.memoryUsage().heapUsed
}

/** What the first ticket brings with it (code, connections) is no ticket's. */
async function warmUp(): Promise<void> {
  const ticket = queue.enter(keyed ? { key: 'warm-up' } : {})
  await queue.status()
  ticket.cancel()
  await queue.status()
}

async function measure(): Promise<number> {
  const before = await heapBytes()
  for (let index = 0; index < waiters; index += 1) {
    const options = keyed ? { key: `user-${1_000_000 + index}` } : {}
    held[index] = call === 'enter' ? queue.enter(options) : queue.acquire(options)
    // A batch at a time, as requests come.
    if (index % 500 === 499) await sleep(0)
  }
  while (((await queue.status()).waiting ?? 0) < waiters) await sleep(50)
  return ((await heapBytes()) - before) / waiters
}

/** Only now, because a listener takes memory too. */
function expectRejections(): void {
  for (const waiter of held) if (waiter instanceof Promise) waiter.catch(() => undefined)
}

process.on('message', (command: 'measure' | 'stop') => {
  if (command === 'measure') {
    void measure().then((bytes) => process.send!(bytes))
  } else {
    expectRejections()
    void queue.close({ graceMs: 0 }).then(() => {
      redis?.disconnect()
      process.disconnect()
    })
  }
})
await warmUp()
process.send!('ready')
