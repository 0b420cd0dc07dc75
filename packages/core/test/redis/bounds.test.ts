import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test } from 'vitest'

const redis = useRedis()

const LIVENESS_MS = 10_000
const options = {
  concurrency: 1,
  livenessMs: LIVENESS_MS,
  maxWaitMs: '1h',
  leaseMs: '2h',
  maxQueueSize: 5000,
} as const

/** More than two calls can do. */
const MANY = 1200
const ENDED_MS = 1

type Key = 'waiting' | 'running' | 'instances'

/** A process with a ticket that runs. */
async function oneRuns({ concurrency = 1 } = {}) {
  const world = new VirtualRedis(redis)
  const process = await world.process()
  const queue = process.queue({ ...options, concurrency })
  const lease = await queue.acquire()
  await world.settled()
  return { world, process, queue, lease }
}

/** Puts what others have left straight into the store. */
async function put(key: Key, members: readonly string[], score: (index: number) => number): Promise<void> {
  const pairs = members.flatMap((member, index) => [score(index), member])
  await redis.client().zadd(`fairqueue:{q}:${key}`, ...pairs)
}

/** What a key holds beside its sentinel. */
async function countOf(key: Key): Promise<number> {
  return (await redis.client().zcard(`fairqueue:{q}:${key}`)) - 1
}

/** Tickets of one instance, first come first. */
function ticketsOf(instance: string, count = MANY): string[] {
  return Array.from({ length: count }, (_, index) => `${numbered(index)}:${instance}:t${index}:1:`)
}

function numbered(index: number): string {
  return String(index + 1).padStart(16, '0')
}

function exchangesOf({ client }: VirtualProcess): number {
  return client.calls.filter(({ name }) => name === 'exchange').length
}

/** The sizes of the batches that a process has sent since, without the empty ones: releases, cancels, acquires. */
function batchesOf({ client }: VirtualProcess, from: number): number[][] {
  return client.calls
    .slice(from)
    .filter(({ name }) => name === 'exchange')
    .map(({ keysAndArguments }) => {
      const [releases, cancels, ...operations] = keysAndArguments.slice(7 + 7) as [number, number, ...string[]]
      return [releases, cancels, operations.length - releases - cancels]
    })
    .filter((sizes) => sizes.some((size) => size > 0))
}

/** The next proof of life comes when something has to be swept; nothing else happens. */
async function untilTheSweep(world: VirtualRedis, leave: () => Promise<void>): Promise<void> {
  await world.advance(LIVENESS_MS - 1)
  await leave()
  await world.advance(2)
}

describe('R3: what is too much for one call is done by the next, at once', () => {
  test('leases that have ended', async () => {
    const { world, process } = await oneRuns()
    let before = 0
    await untilTheSweep(world, async () => {
      await put('running', ticketsOf('living.1'), () => ENDED_MS)
      before = exchangesOf(process)
    })
    expect(await countOf('running')).toBe(1)
    expect(exchangesOf(process) - before).toBe(3)
  })

  test('instances that have died', async () => {
    const { world, process } = await oneRuns()
    const dead = Array.from({ length: MANY }, (_, index) => `dead.${index}`)
    let before = 0
    await untilTheSweep(world, async () => {
      await put('instances', dead, () => ENDED_MS)
      before = exchangesOf(process)
    })
    expect(await countOf('instances')).toBe(1)
    expect(exchangesOf(process) - before).toBe(3)
  })

  test('the tickets of a dead one that wait, also behind many of the living', async () => {
    const { world, process } = await oneRuns()
    let before = 0
    await untilTheSweep(world, async () => {
      await put('instances', ['dead.1'], () => ENDED_MS)
      await put('instances', ['living.1'], () => world.serverMs + LIVENESS_MS)
      await put('waiting', ticketsOf('living.1'), (index) => index + 1)
      await put(
        'waiting',
        ticketsOf('dead.1').map((member) => member.replace(/^0/, '1')),
        (index) => 1e15 + index + 1,
      )
      before = exchangesOf(process)
    })
    expect(await countOf('waiting')).toBe(MANY)
    expect(exchangesOf(process) - before).toBe(5)
  })

  test('the tickets of the dead at the head of the line, before the next gets what is free', async () => {
    const { world, process, queue, lease } = await oneRuns()
    const next = queue.enter()
    await world.settled()
    // Of one that nobody has to find dead: it is gone already.
    await put('waiting', ticketsOf('dead.1'), (index) => index + 1)
    const before = exchangesOf(process)
    await lease.release()
    await world.settled()
    expect(next.state).toBe('granted')
    expect(await countOf('waiting')).toBe(0)
    expect(exchangesOf(process) - before).toBe(3)
  })

  test('but nobody calls again and again because of many at the head that need more than the limit', async () => {
    const { world, process, queue, lease } = await oneRuns({ concurrency: 2 })
    const stalling = await world.process()
    const dear = stalling.queue({ ...options, concurrency: 2 })
    for (let index = 0; index < MANY; index += 1) dear.enter({ permits: 2 })
    await world.settled()
    stalling.stall()
    await queue.configure({ concurrency: 1 })
    const behind = queue.enter()
    await world.settled()
    const before = exchangesOf(process)
    await lease.release()
    await world.advance(100)
    expect(exchangesOf(process) - before).toBeLessThan(5)
    expect(behind.state).toBe('waiting')
    // Their own process ends them.
    await stalling.wake()
    await world.settled()
    expect(behind.state).toBe('granted')
  })

  test('all whom a raised limit lets in', async () => {
    const { world, queue } = await oneRuns()
    const tickets = Array.from({ length: MANY }, () => queue.enter())
    await world.settled()
    await queue.configure({ concurrency: MANY + 1 })
    await world.settled()
    expect(tickets.filter(({ state }) => state === 'granted')).toHaveLength(MANY)
  })
})

describe('R3: an exchange carries at most 500 operations', () => {
  test('1,200 who come in one tick are asked for in three, in order, and all are answered', async () => {
    const { world, process, queue } = await oneRuns()
    const from = process.client.calls.length
    const keys = Array.from({ length: MANY }, (_, index) => `k${index}`)
    const tickets = keys.map((key) => queue.enter({ key }))
    await world.settled()
    expect(batchesOf(process, from)).toEqual([
      [0, 0, 500],
      [0, 0, 500],
      [0, 0, 200],
    ])
    const line = await redis.client().zrange('fairqueue:{q}:waiting', 0, '-1')
    expect(line.slice(0, -1).map((member) => member.split(':')[4])).toEqual(keys)
    expect(tickets.map(({ position }) => position)).toEqual(keys.map((_, index) => index + 1))
  })

  test('so do 1,200 who stop waiting', async () => {
    const { world, process, queue } = await oneRuns()
    const tickets = Array.from({ length: MANY }, () => queue.enter())
    await world.settled()
    const from = process.client.calls.length
    for (const ticket of tickets) ticket.cancel()
    await world.settled()
    expect(batchesOf(process, from)).toEqual([
      [0, 500, 0],
      [0, 500, 0],
      [0, 200, 0],
    ])
    expect([await countOf('running'), await countOf('waiting')]).toEqual([1, 0])
  })

  test('and 1,200 who are done', async () => {
    const { world, process, queue } = await oneRuns({ concurrency: MANY + 1 })
    const leases = await Promise.all(Array.from({ length: MANY }, () => queue.acquire()))
    await world.settled()
    const from = process.client.calls.length
    const released = leases.map((each) => each.release())
    await world.settled()
    expect(new Set(await Promise.all(released))).toEqual(new Set(['released']))
    expect(batchesOf(process, from)).toEqual([
      [500, 0, 0],
      [500, 0, 0],
      [200, 0, 0],
    ])
    expect([await countOf('running'), await countOf('waiting')]).toEqual([1, 0])
  })
})
