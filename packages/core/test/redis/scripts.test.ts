import { FairQueue, type Ticket } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { ChaosClient } from '@fairqueue/test/kit/chaosClient'
import { useRedis } from '@fairqueue/test/kit/clients'
import { describe, expect, test, vi } from 'vitest'

const redis = useRedis()

function openQueue(options: { concurrency: number }) {
  const client = new ChaosClient(redis.client())
  const queue = new FairQueue({
    name: 'q',
    bootGraceMs: 0,
    maxWaitMs: '1m',
    ...options,
    store: new RedisStore({ redis: client }),
  })
  return { client, queue }
}

describe('SCRIPT FLUSH', () => {
  test('B17: between any two operations is noticed by nobody, and costs one EVAL per script', async () => {
    const control = redis.client()
    const [a, b] = [openQueue({ concurrency: 1 }), openQueue({ concurrency: 1 })]
    const troubles = vi.fn<(payload: unknown) => void>()
    for (const { queue } of [a, b]) queue.on('error', troubles).on('degraded', troubles)
    let flushes = 0
    const flush = async (): Promise<void> => {
      await control.script('FLUSH')
      flushes += 1
    }
    for (let round = 0; round < 10; round += 1) {
      await flush()
      const lease = await a.queue.acquire()
      await flush()
      const waiting = b.queue.enter()
      await vi.waitFor(async () => expect((await a.queue.status()).waiting).toBe(1))
      await flush()
      await lease.release()
      const next = await waiting.granted
      await flush()
      await a.queue.configure({ maxQueueSize: round + 10 })
      await flush()
      await next.release()
    }
    expect(troubles).not.toHaveBeenCalled()
    for (const { client, queue } of [a, b]) {
      const evals = client.calls.filter(({ how }) => how === 'eval').length
      // exchange, configure and status, and the very first of each.
      expect(evals).toBeLessThanOrEqual(3 * (flushes + 1))
      await queue.close()
    }
    expect(await control.zrange('fairqueue:{q}:running', 0, '-1')).toEqual(['~'])
  })

  test('B17: during a hundred parallel acquires loses and doubles none', async () => {
    const control = redis.client()
    const { queue, client } = openQueue({ concurrency: 3 })
    let flushing = true
    const flusher = (async () => {
      while (flushing) await control.script('FLUSH')
    })()
    let running = 0
    let most = 0
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        queue.run(async () => {
          running += 1
          most = Math.max(most, running)
          await new Promise((resolve) => setImmediate(resolve))
          running -= 1
          return index
        }),
      ),
    )
    flushing = false
    await flusher
    expect(results).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(most).toBeLessThanOrEqual(3)
    // The last release is told after its result.
    await vi.waitFor(async () => expect(await queue.status()).toMatchObject({ running: 0, waiting: 0, grants: 100 }))
    expect(client.calls.filter(({ how }) => how === 'eval').length).toBeGreaterThan(0)
    await queue.close()
  })

  test('B17: once flushed, later calls go by the hash again', async () => {
    const { queue, client } = openQueue({ concurrency: 1 })
    await (await queue.acquire()).release()
    await redis.client().script('FLUSH')
    await (await queue.acquire()).release()
    const before = client.calls.length
    for (let index = 0; index < 10; index += 1) await (await queue.acquire()).release()
    expect(client.calls.slice(before).filter(({ how }) => how === 'eval')).toEqual([])
    await queue.close()
  })
})

describe('time-outs of the client', () => {
  test('B13: shorter than the wait are no store errors: every wait ends as one of the queue', async () => {
    const client = redis.client({ commandTimeout: 150, socketTimeout: 300 })
    const queue = new FairQueue({ name: 'q', concurrency: 1, bootGraceMs: 0, store: new RedisStore({ redis: client }) })
    const troubles = vi.fn<(payload: unknown) => void>()
    queue.on('error', troubles).on('degraded', troubles).on('failed', troubles)
    const holder = await queue.acquire()
    const waitsMs = [0, 1, 5, 500, 900]
    const tickets = waitsMs.map((maxWaitMs) => queue.enter({ maxWaitMs }))
    const granted = queue.enter({ maxWaitMs: '30s' })
    const aborted = new AbortController()
    tickets.push(queue.enter({ maxWaitMs: '30s', signal: aborted.signal }))
    await vi.waitFor(
      () => expect(tickets.slice(0, -1).map(({ state }) => state)).toEqual(waitsMs.map(() => 'timedOut')),
      3000,
    )
    aborted.abort()
    await holder.release()
    await (await granted.granted).release()
    expect(tickets.at(-1)!.state).toBe('cancelled')
    expect(troubles).not.toHaveBeenCalled()
    const blocking = (await redis.client().info('commandstats')).match(/^cmdstat_(b[lrz]\w*|xread\w*)/gm)
    expect(blocking).toBeNull()
    await queue.close()
  })
})

describe('keys', () => {
  test('B18: two applications with prefixes of their own share nothing, and keys carry the prefix once', async () => {
    const open = (keyPrefix: string): FairQueue =>
      new FairQueue({
        name: 'chat',
        concurrency: 1,
        bootGraceMs: 0,
        maxWaitMs: '1m',
        pollIntervalMs: '1m',
        store: new RedisStore({ redis: redis.client({ keyPrefix }) }),
      })
    const ones = [open('app1:'), open('app1:')]
    const other = open('app2:')
    const holder = await ones[0]!.acquire()
    // Another application's queue of the same name is another queue.
    const theirs = await other.acquire()
    const waiting: Ticket = ones[1]!.enter()
    await vi.waitFor(async () => expect(await ones[1]!.status()).toMatchObject({ waiting: 1, wakeChannel: 'open' }))
    // With polls a minute apart only a hint can be so quick.
    await holder.release()
    await waiting.granted
    expect(await other.status()).toMatchObject({ running: 1, waiting: 0 })
    const client = redis.client()
    const kinds = ['instances', 'running', 'state', 'waiting']
    expect((await client.keys('*')).toSorted()).toEqual(
      ['app1:', 'app2:'].flatMap((prefix) => kinds.map((kind) => `${prefix}fairqueue:{chat}:${kind}`)),
    )
    const channels = (await client.pubsub('CHANNELS', '*')) as string[]
    expect(channels.map((channel) => channel.replace(/[^:]+$/, '')).toSorted()).toEqual([
      'app1:fairqueue:wake:',
      'app1:fairqueue:wake:',
      'app2:fairqueue:wake:',
    ])
    await theirs.release()
    await (await waiting.granted).release()
    for (const queue of [...ones, other]) await queue.close()
  })

  test("the store's own prefix is checked and used", async () => {
    const client = redis.client()
    for (const prefix of ['', 'a b', '{x}', 'ä', 5, null]) {
      expect(() => new RedisStore({ redis: client, prefix: prefix as string })).toThrow(/"prefix"/)
    }
    for (const wrong of [undefined, null, 5, {}]) {
      expect(() => new RedisStore({ redis: wrong as never })).toThrow(/"redis"/)
    }
    expect(() => new RedisStore({ redis: client, prefx: 'x' } as never)).toThrow(/"prefx"/)
    const queue = new FairQueue({
      name: 'a',
      concurrency: 1,
      bootGraceMs: 0,
      store: new RedisStore({ redis: client, prefix: 'my.app:x_1' }),
    })
    await (await queue.acquire()).release()
    expect((await client.keys('*')).every((key) => key.startsWith('my.app:x_1:{a}:'))).toBe(true)
    await queue.close()
  })
})
