import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test, vi } from 'vitest'
import type { Logger, Ticket } from '@fairqueue/core'

const redis = useRedis()

const options = { concurrency: 1, maxWaitMs: '1h', pollIntervalMs: 1000, livenessMs: 10_000 } as const

async function processes(count: number): Promise<[VirtualRedis, ...VirtualProcess[]]> {
  const world = new VirtualRedis(redis)
  const all: VirtualProcess[] = []
  for (let index = 0; index < count; index += 1) all.push(await world.process())
  return [world, ...all]
}

describe('a lost wake-up', () => {
  test('B07: a release between the failed try and the subscription is found when the subscription stands', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const holder = await a.queue(options).acquire()
    b.client.subscribeFate = () => 'hold'
    const ticket = b.queue(options).enter()
    await world.settled()
    expect(ticket.state).toBe('waiting')
    await holder.release()
    await world.settled()
    expect(ticket.state).toBe('waiting')
    b.client.releaseCalls()
    await world.settled()
    expect(ticket.state).toBe('granted')
  })

  test('B07: a lease that ends by itself, of which nobody tells, is found at its end', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    // A poll comes seldom enough not to be what finds it.
    const seldom = { ...options, pollIntervalMs: '1m', leaseMs: 5000 }
    await a.queue(seldom).acquire()
    const ticket = b.queue(seldom).enter()
    await world.settled()
    a.client.fate = () => 'swallow'
    await world.advance(4900)
    expect(ticket.state).toBe('waiting')
    await world.advance(1000)
    expect(ticket.state).toBe('granted')
  })

  test.each([
    ['every hint', () => 'lose' as const],
    [
      'one hint in three',
      (() => {
        let count = 0
        return () => ((count += 1) % 3 === 0 ? ('lose' as const) : ('deliver' as const))
      })(),
    ],
  ])('B07: with %s lost a waiter is granted within one poll interval', async (_, fate) => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    await world.settled()
    b.client.subscriber.fate = fate
    for (let round = 0; round < 6; round += 1) {
      const holder = await mine.acquire()
      const ticket = theirs.enter()
      await world.advance(3000)
      expect(ticket.state).toBe('waiting')
      await holder.release()
      await world.advance(1100)
      expect(ticket.state).toBe('granted')
      await (await ticket.granted).release()
      await world.settled()
    }
  })

  test('without the right to subscribe it works by polling and says so once', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const warn = vi.fn<Logger['warn']>()
    const told: boolean[] = []
    b.client.subscribeFate = () => 'refuse'
    const queue = b.queue({ ...options, logger: { warn } })
    queue.on('wakeChannel', ({ open }) => told.push(open))
    await world.settled()
    const holder = await a.queue(options).acquire()
    const ticket = queue.enter()
    await world.settled()
    await holder.release()
    await world.advance(1100)
    expect(ticket.state).toBe('granted')
    expect(told).toEqual([false])
    expect(warn.mock.calls.map(([, details]) => (details as { code: string }).code)).toEqual(['FQ_WAKE_CHANNEL_DOWN'])
    expect(await queue.status()).toMatchObject({ wakeChannel: 'down', degraded: false })
  })
})

describe('one release', () => {
  test('B12: of a permit for which 1000 wait costs one call, wakes one, and keeps the order', async () => {
    const [world, ...all] = await processes(4)
    const queues = all.map((process) => process.queue({ ...options, maxQueueSize: 2000 }))
    let holder: Ticket = queues[0]!.enter()
    await world.settled()
    const line: Ticket[] = []
    // In blocks of ten, so that the order of arrival is known.
    for (let block = 0; block < 100; block += 1) {
      for (let index = 0; index < 10; index += 1) line.push(queues[block % 4]!.enter())
      await world.settled()
    }
    const calls = (): number => all.reduce((sum, { client }) => sum + client.calls.length, 0)
    const before = calls()
    for (let released = 0; released < 100; released += 1) {
      await (await holder.granted).release()
      await world.settled()
      holder = line[released]!
      expect(holder.state).toBe('granted')
      expect(line[released + 1]!.state).toBe('waiting')
    }
    expect(calls() - before).toBeLessThanOrEqual(105)
  })

  test('B12: nobody polls faster than configured, and not all at the same moment', async () => {
    const [world, ...all] = await processes(4)
    await all[0]!.queue(options).acquire()
    for (const process of all.slice(1)) for (let index = 0; index < 10; index += 1) process.queue(options).enter()
    await world.settled()
    const [, first] = all
    const before = first!.client.calls.length
    const momentsMs = new Set<number>()
    for (const { client, clock } of all) {
      client.fate = () => {
        momentsMs.add(clock.now())
        return 'deliver'
      }
    }
    const queues = 10
    await world.advance(20_000)
    const polls = (first!.client.calls.length - before) / queues
    expect(polls).toBeGreaterThan(17)
    expect(polls).toBeLessThan(24)
    expect(momentsMs.size).toBeGreaterThan(queues)
  })

  test('B12: an instance without tickets says nothing at all', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const queue = a.queue(options)
    b.queue(options)
    await (await queue.acquire()).release()
    await world.settled()
    const before = [a.client.calls.length, b.client.calls.length]
    await world.advance(60_000)
    expect([a.client.calls.length, b.client.calls.length]).toEqual(before)
    expect([a.clock.pending.foreground, b.clock.pending.foreground]).toEqual([0, 0])
  })
})

describe('subscriptions', () => {
  test('B08: there is one channel per process, whatever the number of keys and queues', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const wide = { ...options, concurrency: 50, maxQueueSize: Infinity, maxWaitMs: 2000 }
    const queues = [a.queue(wide), b.queue(wide), b.queue({ ...wide, name: 'other' })]
    await world.settled()
    const counts = (): number[] =>
      [a, b].flatMap(({ client }) => ['ready', 'close', 'error', 'end'].map((event) => client.listenerCount(event)))
    const before = counts()
    const tickets: Ticket[] = []
    for (let index = 0; index < 20_000; index += 1) {
      const ticket = queues[index % 3]!.enter({ key: `user ${index}` })
      tickets.push(ticket)
      if (index % 4 === 0) ticket.cancel()
      if (index % 5 === 0) ticket.whenSettled((outcome) => 'release' in outcome && void outcome.release())
    }
    await world.advance(3000)
    for (const ticket of tickets) if (ticket.state === 'granted') await (await ticket.granted).release()
    await world.settled()
    expect(tickets.every(({ state }) => ['timedOut', 'cancelled', 'released'].includes(state))).toBe(true)
    const client = redis.client()
    const channels = (await client.pubsub('CHANNELS', '*')) as string[]
    expect(channels).toHaveLength(2)
    expect(await client.pubsub('NUMSUB', ...channels)).toEqual(channels.flatMap((channel) => [channel, 1]))
    expect(counts()).toEqual(before)
    for (const queue of queues) expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
    expect((await client.keys('*')).toSorted()).toHaveLength(8)
  })

  test('B08: the last queue to close takes the subscription with it', async () => {
    const [world, a] = (await processes(1)) as [VirtualRedis, VirtualProcess]
    const [one, two] = [a.queue(options), a.queue({ ...options, name: 'two' })]
    await world.settled()
    const client = redis.client()
    await one.close()
    expect(await client.pubsub('CHANNELS', '*')).toHaveLength(1)
    await two.close()
    await vi.waitFor(async () => expect(await client.pubsub('CHANNELS', '*')).toEqual([]))
    const again = a.queue(options)
    await world.settled()
    expect(await client.pubsub('CHANNELS', '*')).toHaveLength(1)
    await (await again.acquire()).release()
  })
})
