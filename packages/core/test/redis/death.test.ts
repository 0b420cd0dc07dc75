import type { LeaseLostError } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test, vi } from 'vitest'

const redis = useRedis()

const LIVENESS_MS = 10_000
const options = { concurrency: 1, livenessMs: LIVENESS_MS, maxWaitMs: '1h', leaseMs: '2h' } as const

async function processes(count: number): Promise<[VirtualRedis, ...VirtualProcess[]]> {
  const world = new VirtualRedis(redis)
  const all: VirtualProcess[] = []
  for (let index = 0; index < count; index += 1) all.push(await world.process())
  return [world, ...all]
}

describe('a process that dies', () => {
  test('B02: gives back what it held within livenessMs and one sweep, and its waiters vanish', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const [dying, living] = [a.queue({ ...options, concurrency: 3 }), b.queue({ ...options, concurrency: 3 })]
    const held = Array.from({ length: 3 }, () => dying.enter())
    await world.settled()
    const waiting = Array.from({ length: 4 }, () => dying.enter())
    await world.settled()
    expect([...held, ...waiting].filter(({ state }) => state === 'granted')).toHaveLength(3)
    const ticket = living.enter()
    await world.settled()
    a.die()
    await world.advance(LIVENESS_MS - 100)
    expect(ticket.state).toBe('waiting')
    expect(await living.status()).toMatchObject({ running: 3 })
    await world.advance(400)
    expect(ticket.state).toBe('granted')
    expect(await living.status()).toMatchObject({ running: 1, waiting: 0, instances: 1 })
  })

  test('B02: is found out by whoever comes after a silence of all, at most ⅔ livenessMs later', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    await a.queue(options).acquire()
    await world.settled()
    a.die()
    await world.advance(3 * LIVENESS_MS)
    const ticket = b.queue(options).enter()
    await world.advance((2 / 3) * LIVENESS_MS - 200)
    expect(ticket.state).toBe('waiting')
    await world.advance(600)
    expect(ticket.state).toBe('granted')
  })

  test.each([200, 1300])('B06: %i dead waiters at the head cost the living nothing', async (count) => {
    const [world, x, y, z] = (await processes(3)) as [VirtualRedis, VirtualProcess, VirtualProcess, VirtualProcess]
    const wide = { ...options, maxQueueSize: 5000 }
    const holder = await z.queue(wide).acquire()
    const doomed = x.queue(wide)
    for (let index = 0; index < count; index += 1) doomed.enter()
    await world.settled()
    const queue = y.queue(wide)
    const ticket = queue.enter()
    await world.settled()
    expect(ticket.position).toBe(count + 1)
    x.die()
    await world.advance(LIVENESS_MS + 200)
    const before = y.client.calls.length + z.client.calls.length
    await holder.release()
    await world.settled()
    expect(ticket.state).toBe('granted')
    expect(y.client.calls.length + z.client.calls.length - before).toBeLessThanOrEqual(2 + Math.ceil(count / 500))
    expect(await queue.status()).toMatchObject({ running: 1, waiting: 0, instances: 2 })
  })

  test('B06: a permit that was handed to a dead waiter comes back within livenessMs, whatever their number', async () => {
    const [world, x, y] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const holder = await y.queue(options).acquire()
    const doomed = x.queue(options)
    for (let index = 0; index < 300; index += 1) doomed.enter()
    await world.settled()
    const ticket = y.queue(options).enter()
    await world.settled()
    x.die()
    await holder.release()
    await world.advance(LIVENESS_MS + 300)
    expect(ticket.state).toBe('granted')
  })

  test('B06: waits that are given up and tried again push no expiry further out', async () => {
    const [world, ...clients] = await processes(4)
    const queues = clients.map((client) => client.queue({ ...options, leaseMs: '1m', maxWaitMs: '30s' }))
    await queues[3]!.acquire()
    const timedOut = vi.fn<(payload: unknown) => void>()
    for (let round = 0; round < 100; round += 1) {
      for (const queue of queues.slice(0, 3)) queue.enter({ maxWaitMs: 50 }).granted.catch(timedOut)
      await world.advance(60)
    }
    expect(timedOut).toHaveBeenCalledTimes(300)
    const client = redis.client()
    const scores = async (key: string): Promise<number[]> => {
      const all = await client.zrange(`fairqueue:{q}:${key}`, 0, '-1', 'WITHSCORES')
      return all.filter((text, index) => index % 2 === 1 && text !== 'inf').map(Number)
    }
    expect(await client.zcard('fairqueue:{q}:waiting')).toBe(1)
    for (const aliveUntilMs of await scores('instances'))
      expect(aliveUntilMs - world.serverMs).toBeLessThanOrEqual(LIVENESS_MS)
    for (const endsAtMs of await scores('running')) expect(endsAtMs - world.serverMs).toBeLessThanOrEqual(60_000)
    // The keys outlive leases and waits, but not for ever.
    for (const key of ['waiting', 'running', 'instances', 'state']) {
      const leftMs = await client.pttl(`fairqueue:{q}:${key}`)
      expect(leftMs).toBeGreaterThan(60_000)
      expect(leftMs).toBeLessThan(10 * 60_000)
    }
  })
})

describe('a process that stalls for longer than livenessMs', () => {
  test('B03: is told that its lease is lost, and never takes it back', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    const lost = vi.fn<(payload: unknown) => void>()
    mine.on('leaseLost', lost)
    const lease = await mine.acquire({ key: 'k' })
    const next = theirs.enter()
    await world.settled()
    a.stall()
    await world.advance(LIVENESS_MS + 300)
    expect(next.state).toBe('granted')
    await (await next.granted).release()
    await world.settled()
    await a.wake()
    await world.settled()
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ code: 'FQ_LEASE_LOST', lostBy: 'forgotten' })
    expect(lost).toHaveBeenCalledTimes(1)
    expect(lost.mock.calls[0]![0]).toMatchObject({ key: 'k' })
    expect(await redis.client().zrange('fairqueue:{q}:running', 0, '-1')).toEqual(['~'])
    const again = theirs.enter()
    await world.settled()
    expect(again.state).toBe('granted')
    expect(await lease.release()).toBe('lost')
    await world.settled()
    expect(await theirs.status()).toMatchObject({ running: 1 })
  })

  test("B05: notices once, with key and age; its answer is still given, and its release takes nobody's place", async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const short = { ...options, livenessMs: 300, pollIntervalMs: 100 }
    const [mine, theirs] = [a.queue(short), b.queue(short)]
    const unhandled = vi.fn<(payload: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    const losses: { key: string | null; error: LeaseLostError; heldMs: number }[] = []
    mine.on('leaseLost', (loss) => losses.push(loss))
    let finish: (text: string) => void = () => undefined
    const answer = mine.run(() => new Promise<string>((resolve) => (finish = resolve)), { key: 'ann' })
    await world.settled()
    const next = theirs.enter()
    await world.settled()
    a.stall()
    await world.advance(450)
    expect(next.state).toBe('granted')
    await world.advance(550)
    await a.wake({ timersFirst: true })
    await world.advance(1000)
    expect(losses).toHaveLength(1)
    expect(losses[0]).toMatchObject({ key: 'ann', error: { lostBy: 'forgotten' } })
    expect(losses[0]!.heldMs).toBeGreaterThanOrEqual(1000)
    finish('the answer')
    expect(await answer).toBe('the answer')
    await world.settled()
    expect(next.state).toBe('granted')
    expect(await theirs.status()).toMatchObject({ running: 1 })
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test.each(['holder', 'waiter'] as const)(
    'B05: when all were asleep for ten minutes nobody is swept, also if the %s wakes first',
    async (first) => {
      const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
      const [mine, theirs] = [a.queue(options), b.queue(options)]
      const lost = vi.fn<(payload: unknown) => void>()
      mine.on('leaseLost', lost)
      const lease = await mine.acquire()
      const next = theirs.enter()
      await world.settled()
      a.stall()
      b.stall()
      await world.advance(10 * 60_000)
      const [early, late] = first === 'holder' ? [a, b] : [b, a]
      await early.wake()
      await world.advance(500)
      await late.wake()
      await world.advance(2 * LIVENESS_MS)
      expect(lost).not.toHaveBeenCalled()
      expect(next.state).toBe('waiting')
      expect(await lease.release()).toBe('released')
      await world.settled()
      expect(next.state).toBe('granted')
    },
  )

  test("starts no work from the hints of before: its place may be another's; it keeps its turn", async () => {
    const [world, a, b, c] = (await processes(3)) as [VirtualRedis, VirtualProcess, VirtualProcess, VirtualProcess]
    const holder = await c.queue(options).acquire()
    const first = a.queue(options).enter()
    await world.settled()
    const second = b.queue(options).enter()
    await world.settled()
    a.stall()
    await holder.release()
    await world.advance(LIVENESS_MS + 300)
    expect(second.state).toBe('granted')
    await a.wake()
    expect(first.state).toBe('waiting')
    await world.settled()
    const third = b.queue(options).enter()
    await world.advance(2000)
    expect(first.state).toBe('waiting')
    await (await second.granted).release()
    await world.settled()
    expect([first.state, third.state]).toEqual(['granted', 'waiting'])
  })
})

describe('a heartbeat that crosses a release', () => {
  test('B04: raises no alarm, whichever reply comes first, and brings nothing back', async () => {
    const [world, a] = (await processes(1)) as [VirtualRedis, VirtualProcess]
    const queue = a.queue(options)
    const lost = vi.fn<(payload: unknown) => void>()
    queue.on('leaseLost', lost)
    const lease = await queue.acquire()
    await world.settled()
    a.client.fate = () => 'holdReply'
    await world.advance(LIVENESS_MS / 3 + 10)
    expect(a.client.heldCalls).toBe(1)
    const released = lease.release()
    a.client.fate = () => 'deliver'
    await world.settled()
    a.client.releaseCalls()
    expect(await released).toBe('released')
    await world.advance(2 * LIVENESS_MS)
    expect(lost).not.toHaveBeenCalled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
  })

  test('B04: 200 handlers that end while heartbeats go out lose nothing', async () => {
    const [world, a, b] = (await processes(2)) as [VirtualRedis, VirtualProcess, VirtualProcess]
    const short = { ...options, concurrency: 200, livenessMs: 60, pollIntervalMs: 20 }
    const queues = [a.queue(short), b.queue(short)]
    const lost = vi.fn<(payload: unknown) => void>()
    for (const queue of queues) queue.on('leaseLost', lost)
    let done = 0
    for (let index = 0; index < 400; index += 1) {
      const { clock } = index % 2 === 0 ? a : b
      const work = (): Promise<void> =>
        new Promise((resolve) => void clock.setTimer(resolve, 5 + (index % 7) - 3 + (index % 50), 'foreground'))
      void queues[index % 2]!.run(work).then(() => (done += 1))
    }
    await world.advance(300)
    expect(done).toBe(400)
    expect(lost).not.toHaveBeenCalled()
    expect(await queues[0]!.status()).toMatchObject({ running: 0, waiting: 0 })
  })
})
