import { FairQueue, type FairQueueOptions, type Lease, type Ticket } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { RedisServer } from '@fairqueue/test/kit/redisServer'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, test, vi } from 'vitest'

const quick = {
  name: 'q',
  storeTimeoutMs: 400,
  livenessMs: 3000,
  pollIntervalMs: 100,
  bootGraceMs: 0,
  maxWaitMs: '1m',
  logger: { warn: () => undefined },
} as const

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
  cleanups.length = 0
})

async function open(count: number, options: Partial<FairQueueOptions> & { concurrency: number }) {
  const server = await RedisServer.started()
  cleanups.push(() => server.stop())
  const queues = Array.from({ length: count }, () => {
    const redis = new Redis(server.port, '127.0.0.1')
    redis.on('error', () => undefined)
    const queue = new FairQueue({ ...quick, ...options, store: new RedisStore({ redis }) })
    cleanups.push(async () => {
      await queue.close({ graceMs: 0 })
      redis.disconnect()
    })
    return queue
  })
  // Whoever has a ticket learns of the others.
  await Promise.all(queues.map((queue) => queue.acquire()).map(async (lease) => await (await lease).release()))
  await Promise.all(queues.map((queue) => queue.acquire()).map(async (lease) => await (await lease).release()))
  return { server, queues }
}

async function waitUntilAlone(...queues: FairQueue[]): Promise<void> {
  await vi.waitFor(async () => {
    for (const queue of queues) expect((await queue.status()).local.limit).not.toBeNull()
  }, 5000)
}

function stateOf({ state }: Ticket): string {
  return state
}

describe('a Redis that is away for a while', () => {
  test('R25: the line goes on in every process, in its order, and is one line again afterwards', async () => {
    const { server, queues } = await open(2, { concurrency: 2 })
    const [a, b] = queues as [FairQueue, FairQueue]
    const [ofA, ofB] = [await a.acquire(), await b.acquire()]
    const tickets: Ticket[] = []
    for (const queue of [a, b, a, b]) {
      tickets.push(queue.enter())
      await vi.waitFor(async () => expect(await a.status()).toMatchObject({ waiting: tickets.length }))
    }
    const order: number[] = []
    for (const [index, ticket] of tickets.entries()) ticket.whenSettled(() => order.push(index))

    const news: (number | null)[] = []
    a.on('local', ({ limit }) => news.push(limit))
    server.pause()
    const early = a.enter()
    await waitUntilAlone(a, b)
    expect(tickets.map(stateOf)).toEqual(['waiting', 'waiting', 'waiting', 'waiting'])
    await ofA.release()
    expect(tickets.map(stateOf)).toEqual(['granted', 'waiting', 'waiting', 'waiting'])
    expect(await a.status()).toMatchObject({ degraded: true, local: { running: 1, waiting: 2, limit: 1 } })

    server.resume()
    await vi.waitFor(
      async () => expect(await a.status()).toMatchObject({ running: 2, waiting: 4, degraded: false }),
      5000,
    )
    await vi.waitFor(async () => expect((await b.status()).local.limit).toBeNull(), 5000)
    expect(news).toEqual([1, null])
    await ofB.release()
    for (const ticket of [...tickets, early]) await (await ticket.granted).release()
    expect(order).toEqual([0, 1, 2, 3])
    await vi.waitFor(async () => expect(await b.status()).toMatchObject({ running: 0, waiting: 0 }))
  })

  test('B50: with five processes no more run than the limit, and none more than its share; what they began is counted afterwards', async () => {
    const { server, queues } = await open(5, { concurrency: 8 })
    await server.kill()
    const tickets = queues.flatMap((queue) => Array.from({ length: 4 }, () => queue.enter()))
    const running = (): Ticket[] => tickets.filter(({ state }) => state === 'granted')
    await waitUntilAlone(...queues)
    expect(running()).toHaveLength(5)
    let most = 0
    for (const ticket of tickets) ticket.whenSettled(() => (most = Math.max(most, running().length)))
    await server.start()
    await vi.waitFor(async () => expect(await queues[0]!.status()).toMatchObject({ running: 8, waiting: 12 }), 10_000)
    await Promise.all(tickets.map(async ({ granted }) => await (await granted).release()))
    expect(most).toBeLessThanOrEqual(8)
  })

  test('R25: a process that starts meanwhile works, one at a time, and joins the line later', async () => {
    const server = await RedisServer.absent()
    cleanups.push(() => server.stop())
    const redis = new Redis(server.port, '127.0.0.1', { retryStrategy: () => 50 })
    redis.on('error', () => undefined)
    const queue = new FairQueue({ ...quick, concurrency: 5, store: new RedisStore({ redis }) })
    cleanups.push(async () => {
      await queue.close({ graceMs: 0 })
      redis.disconnect()
    })
    const [first, second]: Promise<Lease>[] = [queue.acquire(), queue.acquire()]
    await waitUntilAlone(queue)
    const lease = await first!
    expect(await queue.status()).toMatchObject({ local: { running: 1, waiting: 1, limit: 1 } })
    await server.start()
    await (await second!).release()
    await vi.waitFor(async () => expect(await queue.status()).toMatchObject({ running: 1, waiting: 0 }), 5000)
    await lease.release()
    await vi.waitFor(async () => expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 }))
  })
})
