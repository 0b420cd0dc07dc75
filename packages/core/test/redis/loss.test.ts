import type { Ticket } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test, vi } from 'vitest'

const redis = useRedis()

const LIVENESS_MS = 10_000
const options = { concurrency: 2, maxWaitMs: '1h', leaseMs: '3h', livenessMs: LIVENESS_MS, maxQueueSize: 5000 } as const
const keys = ['waiting', 'running', 'instances', 'state'].map((kind) => `fairqueue:{q}:${kind}`)
const subsets = Array.from({ length: 15 }, (_, index) => keys.filter((_key, bit) => ((index + 1) >> bit) & 1))

/** Two processes, each with one ticket that runs and two that wait, in turn. */
async function filled() {
  const world = new VirtualRedis(redis)
  const [a, b] = [await world.process(), await world.process()]
  const queues = [a.queue(options), b.queue(options)] as const
  const order: number[] = []
  const tickets: Ticket[] = []
  for (let index = 0; index < 6; index += 1) {
    const ticket = queues[index % 2 === 0 ? 0 : 1].enter()
    ticket.whenSettled(() => order.push(index))
    tickets.push(ticket)
    await world.settled()
  }
  expect(order).toEqual([0, 1])
  return { world, a, b, queues, tickets, order }
}

async function releaseAll(world: VirtualRedis, tickets: readonly Ticket[]): Promise<void> {
  for (const ticket of tickets) {
    await (await ticket.granted).release()
    await world.settled()
  }
}

describe('lost memory', () => {
  test.each(subsets.map((subset) => [subset.map((key) => key.slice(key.lastIndexOf(':') + 1)).join(', '), subset]))(
    'of %s: those who live bring back what they hold; limit and order stand',
    async (_, lost) => {
      const { world, queues, tickets, order } = await filled()
      const leaseLost = vi.fn<(payload: unknown) => void>()
      for (const queue of queues) queue.on('leaseLost', leaseLost)
      await redis.client().del(...lost)
      const newcomer = queues[1].enter()
      newcomer.whenSettled(() => order.push(6))
      await world.advance(LIVENESS_MS * 1.5)
      expect(order).toEqual([0, 1])
      expect(leaseLost).not.toHaveBeenCalled()
      expect(await queues[0].status()).toMatchObject({ running: 2, waiting: 5 })
      await releaseAll(world, [...tickets, newcomer])
      expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
      expect(await queues[0].status()).toMatchObject({ running: 0, waiting: 0 })
    },
  )

  test('that is noticed by an exchange which had been applied before: its verdict counts', async () => {
    const { world, b, queues, tickets, order } = await filled()
    let lost = false
    b.client.fate = ({ name }) => {
      if (name !== 'exchange' || lost) return 'deliver'
      lost = true
      return 'loseReply'
    }
    const late = queues[1].enter()
    late.whenSettled(() => order.push(6))
    await new Promise((resolve) => setImmediate(resolve))
    await redis.client().del(keys[0]!)
    await world.advance(LIVENESS_MS * 1.5)
    expect(await queues[0].status()).toMatchObject({ running: 2, waiting: 5 })
    await releaseAll(world, [...tickets, late])
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('of a queue with more tickets than one call can bring back, lost again between two of them', async () => {
    const world = new VirtualRedis(redis)
    const [a, b] = [await world.process(), await world.process()]
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    const order: number[] = []
    const tickets = Array.from({ length: 1300 }, (_, index) => {
      const ticket = mine.enter()
      ticket.whenSettled(() => order.push(index))
      return ticket
    })
    await world.settled()
    const last = theirs.enter()
    await world.settled()
    let rejoins = 0
    const control = redis.client()
    await control.flushall()
    a.client.fate = ({ name }) => {
      if (name === 'rejoin') rejoins += 1
      // Sent on another connection, but before.
      if (rejoins === 2) void control.flushall()
      return 'deliver'
    }
    await world.advance(LIVENESS_MS * 2)
    expect(rejoins).toBeGreaterThan(3)
    expect(await theirs.status()).toMatchObject({ running: 2, waiting: 1299 })
    expect(last.position).toBe(1299)
    await releaseAll(world, tickets.slice(0, 600))
    expect(order).toEqual(Array.from({ length: 602 }, (_, index) => index))
  })

  test('holds newcomers back: they wait without a place, or give up, and enter when the grace is over', async () => {
    const { world, queues, tickets } = await filled()
    await redis.client().flushall()
    // b is silent for the moment, so the grace lasts.
    await world.advance(1100)
    const [patient, hasty, gone] = [queues[0].enter(), queues[0].enter({ maxWaitMs: 500 }), queues[0].enter()]
    await world.settled()
    gone.cancel()
    await world.advance(LIVENESS_MS * 1.5)
    expect([patient.state, hasty.state, gone.state]).toEqual(['waiting', 'timedOut', 'cancelled'])
    expect(patient.position).toBe(5)
    await releaseAll(world, [...tickets, patient])
    expect(await queues[0].status()).toMatchObject({ running: 0, waiting: 0 })
  })
})

describe("an operator's settings", () => {
  test('come back with those who know them', async () => {
    const { world, queues } = await filled()
    await queues[1].configure({ concurrency: 3, maxQueueSize: 77 }, { by: 'Ann' })
    await world.settled()
    await redis.client().flushall()
    await world.advance(LIVENESS_MS * 1.5)
    expect(await queues[0].status()).toMatchObject({
      concurrency: 3,
      maxQueueSize: 77,
      version: 1,
      by: 'Ann',
      running: 3,
    })
    expect(await queues[0].configure({ concurrency: 4 }, { ifVersion: 1 })).toMatchObject({ version: 2 })
  })
})

describe("the server's clock", () => {
  test('set back an hour, or on, ends no lease and no life, and numbers go on growing', async () => {
    const { world, a, queues, tickets, order } = await filled()
    const lost = vi.fn<(payload: unknown) => void>()
    for (const queue of queues) queue.on('leaseLost', lost)
    for (const skewMs of [-3_600_000, 60_000, -1]) {
      world.skewMs = skewMs
      await world.advance(LIVENESS_MS * 2)
    }
    const late = queues[0].enter()
    late.whenSettled(() => order.push(6))
    await world.settled()
    expect(lost).not.toHaveBeenCalled()
    await releaseAll(world, [...tickets, late])
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(a.client.calls.filter(({ name }) => name === 'rejoin')).toEqual([])
  })
})

async function twoProcesses(): Promise<[VirtualRedis, VirtualProcess, VirtualProcess]> {
  const world = new VirtualRedis(redis)
  return [world, await world.process(), await world.process()]
}

describe('the first creation of a queue', () => {
  test('opens at once, but not before Redis has been up for bootGraceMs', async () => {
    const [world, a, b] = await twoProcesses()
    const young = a.queue({ ...options, name: 'young', bootGraceMs: '5m' }).enter()
    const old = b.queue({ ...options, name: 'old' }).enter()
    await world.settled()
    expect([young.state, young.position, old.state]).toEqual(['waiting', null, 'granted'])
    // The server has been up for some seconds.
    await world.advance(200_000)
    expect(young.state).toBe('waiting')
    await world.advance(100_000)
    expect(young.state).toBe('granted')
  })
})
