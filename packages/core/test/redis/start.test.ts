import { FairQueue } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test } from 'vitest'

const redis = useRedis()

test('what is asked before the first connection waits for it', async () => {
  const queue = new FairQueue({
    name: 'q',
    concurrency: 1,
    bootGraceMs: 0,
    storeTimeoutMs: '10s',
    store: new RedisStore({ redis: redis.client() }),
  })
  const [changed, status] = await Promise.all([queue.configure({ concurrency: 3 }), queue.status()])
  expect(changed.values.concurrency).toBe(3)
  expect(status.degraded).toBe(false)
  await queue.close()
})

describe('a queue that the store does not know (R17)', () => {
  const options = { concurrency: 1, bootGraceMs: '5m', maxWaitMs: '1h' } as const

  /** A process that is told how long the server has been up; undefined: it may not ask. */
  async function processOn(world: VirtualRedis, uptimeSeconds: number | undefined) {
    const process = await world.process()
    const info = `run_id:r1\r\nuptime_in_seconds:${uptimeSeconds}\r\n`
    process.client.info = () =>
      uptimeSeconds === undefined ? Promise.reject(new Error('NOPERM')) : Promise.resolve(info)
    return process
  }

  test('opens when the server has been up for bootGraceMs: after the rest of it', async () => {
    const world = new VirtualRedis(redis)
    const young = await processOn(world, 120)
    const ticket = young.queue(options).enter()
    await world.settled()
    expect([ticket.state, ticket.position]).toEqual(['waiting', null])
    await world.advance(170_000)
    expect(ticket.state).toBe('waiting')
    await world.advance(10_100)
    expect(ticket.state).toBe('granted')
  })

  test.each([300, undefined])(
    'opens at once on a server that has been up for long, or does not say: %s',
    async (uptime) => {
      const world = new VirtualRedis(redis)
      const old = await processOn(world, uptime)
      const ticket = old.queue(options).enter()
      await world.settled()
      expect(ticket.state).toBe('granted')
    },
  )

  test('is known from then on: whoever comes next waits for no server', async () => {
    const world = new VirtualRedis(redis)
    const first = await processOn(world, 1)
    await first.queue({ ...options, bootGraceMs: 0 }).status()
    await world.settled()
    const second = await processOn(world, 1)
    const ticket = second.queue(options).enter()
    await world.settled()
    expect(ticket.state).toBe('granted')
  })
})
