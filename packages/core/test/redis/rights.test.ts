import { FairQueue, type WarningCode } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { FakeClock } from '@fairqueue/core/testing'
import { useRedis } from '@fairqueue/test/kit/clients'
import { describe, expect, test, vi } from 'vitest'
import { connectionOf } from '../../src/redis/client.js'
import { WakeChannel } from '../../src/redis/wakeChannel.js'

const redis = useRedis()

const options = { concurrency: 1, bootGraceMs: 0, maxWaitMs: '1m', pollIntervalMs: 100 } as const

/** A queue whose client may do everything but what is named. */
async function limitedQueue(user: string, ...denied: string[]) {
  await redis.client().call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', '~*', '&*', '+@all', ...denied)
  const client = redis.client({ username: user, password: 'secret' })
  const warnings: WarningCode[] = []
  const logger = { warn: (_: string, { code }: { code: WarningCode }) => warnings.push(code) }
  const queue = new FairQueue({ name: 'q', ...options, logger, store: new RedisStore({ redis: client }) })
  return { client, queue, warnings }
}

async function handOver(from: FairQueue, to: FairQueue): Promise<void> {
  const lease = await from.acquire()
  const waiting = to.enter()
  await vi.waitFor(async () => expect((await to.status()).waiting).toBe(1))
  await lease.release()
  await (await waiting.granted).release()
}

describe('a user of Redis without the right', () => {
  test('to SUBSCRIBE works by polling and warns once', async () => {
    const limited = await limitedQueue('silent', '-subscribe')
    const other = await limitedQueue('other')
    await handOver(other.queue, limited.queue)
    expect(limited.warnings).toEqual(['FQ_WAKE_CHANNEL_DOWN'])
    expect(await limited.queue.status()).toMatchObject({ wakeChannel: 'down', degraded: false })
    for (const { queue } of [limited, other]) await queue.close()
  })

  test('to PUBLISH still grants: the other side polls', async () => {
    const limited = await limitedQueue('mute', '-publish')
    const other = await limitedQueue('other')
    await handOver(limited.queue, other.queue)
    await handOver(other.queue, limited.queue)
    expect(limited.warnings).toEqual([])
    expect(await limited.queue.status()).toMatchObject({ running: 0, waiting: 0, degraded: false })
    for (const { queue } of [limited, other]) await queue.close()
  })

  test('to ask INFO works, and notices lost memory all the same', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const limited = await limitedQueue('blind', '-info')
    const lease = await limited.queue.acquire()
    const waiting = limited.queue.enter()
    await vi.waitFor(async () => expect((await limited.queue.status()).waiting).toBe(1))
    await redis.client().flushdb()
    await vi.waitFor(async () => expect(await limited.queue.status()).toMatchObject({ running: 1, waiting: 1 }))
    await lease.release()
    await (await waiting.granted).release()
    await limited.queue.close()
    warn.mockRestore()
  })
})

describe('the wake channel', () => {
  test('asks its silent connection for a sign of life, and takes a new one when none comes', async () => {
    const clock = new FakeClock()
    const news: boolean[] = []
    const channel = new WakeChannel(connectionOf(redis.client()), 'wake', clock, {
      onMessage: () => undefined,
      onChanged: (open) => news.push(open),
    })
    await vi.waitFor(() => expect(news).toEqual([true]))
    await clock.advance(10_000)
    // It was asked and has answered: its time is not measured any more, the next question is set.
    await vi.waitFor(() => expect(clock.pending.background).toBe(1))
    redis.server.pause()
    try {
      await clock.advance(10_000)
      expect(news).toEqual([true])
      await clock.advance(5000)
      await vi.waitFor(() => expect(news).toEqual([true, false]))
    } finally {
      redis.server.resume()
    }
    await vi.waitFor(() => expect(news).toEqual([true, false, true]), 5000)
    channel.close()
    expect(clock.pending.background).toBe(0)
  })
})

describe('a store that is closed', () => {
  test('leaves no subscription, and its queues answer that the store is away', async () => {
    const client = redis.client()
    const store = new RedisStore({ redis: client })
    const queue = new FairQueue({
      name: 'q',
      ...options,
      onStoreError: 'closed',
      store,
      logger: { warn: () => undefined },
    })
    await (await queue.acquire()).release()
    await store.close()
    await store.close()
    const control = redis.client()
    await vi.waitFor(async () => expect(await control.pubsub('CHANNELS', '*')).toEqual([]))
    expect(client.status).toBe('ready')
    await expect(queue.acquire()).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
    await queue.close()
  })
})
