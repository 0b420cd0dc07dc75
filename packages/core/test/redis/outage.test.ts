import { createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { FairQueue, type FairQueueOptions, type WarningCode } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { RedisServer } from '@fairqueue/test/kit/redisServer'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, test, vi } from 'vitest'

const quick = {
  concurrency: 1,
  storeTimeoutMs: 400,
  livenessMs: 900,
  pollIntervalMs: 100,
  bootGraceMs: 0,
  maxWaitMs: '1m',
  onStoreError: 'closed',
} as const

/** storeTimeoutMs, and what a busy machine takes. */
const DEADLINE_MS = 2000

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
  cleanups.length = 0
})

async function startServer(): Promise<RedisServer> {
  const server = await RedisServer.started()
  cleanups.push(() => server.stop())
  return server
}

/** An instance over a client with ioredis' own defaults, and what it logs. */
function openQueue(port: number, options: Partial<FairQueueOptions> = {}) {
  const redis = new Redis(port, '127.0.0.1')
  redis.on('error', () => undefined)
  const warnings: WarningCode[] = []
  const logger = { warn: (_: string, { code }: { code: WarningCode }) => warnings.push(code) }
  const queue = new FairQueue({ name: 'q', ...quick, logger, ...options, store: new RedisStore({ redis }) })
  cleanups.push(async () => {
    await queue.close({ graceMs: 0 })
    redis.disconnect()
  })
  return { redis, queue, warnings }
}

async function elapsedMs(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}

describe('a Redis that is absent at first', () => {
  test('B20: refuses within the deadline, one log line per outage, and serves when it has come up', async () => {
    const server = await RedisServer.absent()
    cleanups.push(() => server.stop())
    const { queue, redis, warnings } = openQueue(server.port)
    const degraded: boolean[] = []
    queue.on('degraded', (news) => degraded.push(news.degraded))
    for (let round = 0; round < 4; round += 1) {
      const attempts = Array.from({ length: 25 }, () =>
        expect(queue.acquire()).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE', status: 503 }),
      )
      expect(await elapsedMs(Promise.all(attempts))).toBeLessThan(DEADLINE_MS)
    }
    expect(await queue.status()).toMatchObject({
      degraded: true,
      running: null,
      waiting: null,
      free: null,
      wakeChannel: 'down',
    })
    await expect(queue.configure({ concurrency: 2 })).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
    // Nothing piles up in the client.
    expect((redis as unknown as { offlineQueue: { length: number } }).offlineQueue.length).toBeLessThan(5)
    expect(warnings.toSorted()).toEqual(['FQ_STORE_DOWN', 'FQ_WAKE_CHANNEL_DOWN'])

    await server.start()
    await vi.waitFor(async () => await (await queue.acquire()).release(), { timeout: 5000 })
    expect(degraded).toEqual([true, false])
    expect(await queue.status()).toMatchObject({ degraded: false, running: 0, waiting: 0 })
    await vi.waitFor(async () => expect((await queue.status()).wakeChannel).toBe('open'), { timeout: 5000 })
    expect(warnings.toSorted()).toEqual(['FQ_STORE_DOWN', 'FQ_WAKE_CHANNEL_DOWN'])
  })

  test('B21: lets pass uncounted where onStoreError is "open"', async () => {
    const server = await RedisServer.absent()
    cleanups.push(() => server.stop())
    const { queue, warnings } = openQueue(server.port, { onStoreError: 'open' })
    const leases = await Promise.all(Array.from({ length: 10 }, () => queue.acquire()))
    expect(leases.every(({ counted, fence }) => !counted && fence === 0)).toBe(true)
    for (const lease of leases) expect(await lease.release()).toBe('released')
    expect(warnings.filter((code) => code === 'FQ_STORE_DOWN')).toHaveLength(1)
    await server.start()
    await vi.waitFor(
      async () => {
        await using lease = await queue.acquire()
        expect(lease.counted).toBe(true)
      },
      { timeout: 5000 },
    )
  })

  test('closing while Redis is away ends within the deadline', async () => {
    const server = await RedisServer.absent()
    const { queue } = openQueue(server.port)
    const ticket = queue.enter()
    expect(await elapsedMs(queue.close())).toBeLessThan(DEADLINE_MS)
    await expect(ticket.granted).rejects.toMatchObject({ code: 'FQ_DRAINING' })
  })
})

describe('a server that takes connections and answers nothing', () => {
  test('B20: costs a request no more than storeTimeoutMs', async () => {
    const sockets: Socket[] = []
    const blackHole = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
    await once(blackHole.listen(0, '127.0.0.1'), 'listening')
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy()
      blackHole.close()
    })
    const { queue, redis, warnings } = openQueue((blackHole.address() as AddressInfo).port)
    for (let round = 0; round < 3; round += 1) {
      const attempts = Array.from({ length: 100 }, () =>
        expect(queue.acquire()).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' }),
      )
      expect(await elapsedMs(Promise.all(attempts))).toBeLessThan(DEADLINE_MS)
    }
    expect(await elapsedMs(queue.status())).toBeLessThan(DEADLINE_MS)
    const pending = redis as unknown as { offlineQueue: { length: number }; commandQueue: { length: number } }
    expect(pending.offlineQueue.length + pending.commandQueue.length).toBeLessThan(5)
    expect(warnings.filter((code) => code === 'FQ_STORE_DOWN')).toHaveLength(1)
  })
})

describe('a Redis that stands still', () => {
  test('B20: keeps nobody waiting; what it granted too late is given back; the line goes on as it was', async () => {
    const server = await startServer()
    const [a, b] = [openQueue(server.port), openQueue(server.port)]
    const holder = await a.queue.acquire()
    const first = b.queue.enter()
    await vi.waitFor(async () => expect(await a.queue.status()).toMatchObject({ running: 1, waiting: 1 }))
    const second = a.queue.enter()
    await vi.waitFor(async () => expect(await a.queue.status()).toMatchObject({ running: 1, waiting: 2 }))

    server.pause()
    const attempts = Array.from({ length: 200 }, (_, index) =>
      expect((index % 2 === 0 ? a : b).queue.acquire()).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' }),
    )
    expect(await elapsedMs(Promise.all(attempts))).toBeLessThan(DEADLINE_MS)
    expect(await elapsedMs(holder.release())).toBeLessThan(DEADLINE_MS)
    expect(await elapsedMs(a.queue.status())).toBeLessThan(DEADLINE_MS)
    for (const { redis } of [a, b]) {
      expect((redis as unknown as { commandQueue: { length: number } }).commandQueue.length).toBeLessThan(12)
    }
    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])

    server.resume()
    await (await first.granted).release()
    await (await second.granted).release()
    await vi.waitFor(
      async () => expect(await b.queue.status()).toMatchObject({ running: 0, waiting: 0, degraded: false }),
      { timeout: 3000 },
    )
    await (await b.queue.acquire()).release()
    expect(a.warnings).toEqual(['FQ_STORE_DOWN'])
  })
})

describe('another server on the same port', () => {
  test('B17: that is empty gets the tickets back in their order, and counts what runs before it grants', async () => {
    const server = await startServer()
    const [a, b] = [openQueue(server.port), openQueue(server.port)]
    const holder = await a.queue.acquire()
    const order: number[] = []
    const tickets = []
    for (let index = 0; index < 4; index += 1) {
      const ticket = (index % 2 === 0 ? b : a).queue.enter()
      ticket.whenSettled(() => order.push(index))
      tickets.push(ticket)
      await vi.waitFor(async () => expect((await a.queue.status()).waiting).toBe(index + 1))
    }
    await server.restartEmpty()
    await vi.waitFor(async () => expect(await b.queue.status()).toMatchObject({ running: 1, waiting: 4 }), {
      timeout: 5000,
    })
    expect(holder.loss).toBeNull()
    await holder.release()
    for (const ticket of tickets) await (await ticket.granted).release()
    expect(order).toEqual([0, 1, 2, 3])
  })
})
