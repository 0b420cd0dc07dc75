import { FairQueue } from '@fairqueue/core'
import { RedisStore, type RedisClient } from '@fairqueue/core/redis'
import { useRedis } from '@fairqueue/test/kit/clients'
import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool } from 'redis'
import { afterEach, describe, expect, test, vi } from 'vitest'

const redis = useRedis()

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Each kind of client of one server, connected, with a prefix of its own. */
const clients: Record<string, () => Promise<RedisClient & { ping(): Promise<unknown> }>> = {
  ioredis: async () => redis.client({ keyPrefix: 'app:' }),
  iovalkey: async () => {
    const client = new Valkey({ port: redis.server.port, keyPrefix: 'app:' })
    ends.push(() => client.disconnect())
    return client
  },
  'node-redis': async () => {
    const client = createClient({ url: redis.server.url, keyPrefix: 'app:' })
    client.on('error', () => undefined)
    await client.connect()
    ends.push(() => client.destroy())
    return client
  },
}

function openQueue(client: RedisClient): FairQueue {
  // With polls a minute apart only a hint can be quick.
  const options = { name: 'q', concurrency: 1, bootGraceMs: 0, maxWaitMs: '1m', pollIntervalMs: '1m' } as const
  const queue = new FairQueue({
    ...options,
    store: new RedisStore({ redis: client }),
    logger: { warn: () => undefined },
  })
  ends.push(() => queue.close())
  return queue
}

describe.each(Object.keys(clients))('a client of %s', (name) => {
  test('B22: stays as it is: never listening, never closed, no more listeners than one set', async () => {
    const client = await clients[name]!()
    const emitter = client as unknown as NodeJS.EventEmitter
    const events = ['ready', 'close', 'error', 'end', 'message', 'reconnecting', 'connect']
    const before = events.map((event) => emitter.listenerCount(event))
    for (let round = 0; round < 20; round += 1) {
      const queue = openQueue(client)
      await (await queue.acquire()).release()
      await queue.close()
    }
    expect(events.map((event) => emitter.listenerCount(event))).toEqual(before)
    expect(await client.ping()).toBe('PONG')
  })

  test('B22: hears hints whose connection was killed 20 times, each time anew', async () => {
    const [mine, theirs] = [openQueue(await clients[name]!()), openQueue(await clients[name]!())]
    const control = redis.client()
    for (let round = 0; round < 20; round += 1) {
      const opened = vi.fn<(open: boolean) => void>()
      theirs.on('wakeChannel', ({ open }) => opened(open))
      await control.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await vi.waitFor(() => expect(opened).toHaveBeenLastCalledWith(true), 5000)
    }
    const holder = await mine.acquire()
    const waiting = theirs.enter()
    await vi.waitFor(async () => expect(await theirs.status()).toMatchObject({ waiting: 1, wakeChannel: 'open' }))
    await holder.release()
    await (await waiting.granted).release()
    const channels = (await control.pubsub('CHANNELS', '*')) as string[]
    expect(channels.every((channel) => channel.startsWith('app:fairqueue:wake:'))).toBe(true)
    expect(await control.pubsub('NUMSUB', ...channels)).toEqual(channels.flatMap((channel) => [channel, 1]))
    expect((await control.keys('*')).every((key) => key.startsWith('app:fairqueue:{q}:'))).toBe(true)
  })
})

test('what is no client is refused with what it is instead', () => {
  const wrong: [unknown, RegExp][] = [
    [undefined, /got undefined/],
    [null, /got null/],
    ['redis://127.0.0.1', /got "redis:\/\/127.0.0.1"/],
    [{}, /got an object of class "Object"/],
    [Object.create(null), /got an object/],
    [new Map(), /got an object of class "Map"/],
    [Redis, /got the function or class "Redis": make a client of it/],
    [Promise.resolve(), /got a promise: await it first/],
    [createClientPool({}), /got a pool of node-redis/],
  ]
  for (const [value, message] of wrong) expect(() => new RedisStore({ redis: value as never })).toThrow(message)
})

test('a client of node-redis that nobody connects is told as such, and serves once it is connected', async () => {
  const client = createClient({ url: redis.server.url })
  const queue = new FairQueue({
    name: 'q',
    concurrency: 1,
    bootGraceMs: 0,
    storeTimeoutMs: 100,
    onStoreError: 'closed',
    store: new RedisStore({ redis: client }),
    logger: { warn: () => undefined },
  })
  await expect(queue.acquire()).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
  expect(client.isOpen).toBe(false)
  await client.connect()
  ends.push(() => client.destroy())
  await (await queue.acquire()).release()
  await queue.close()
})
