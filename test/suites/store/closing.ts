import { expect, test, vi } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { queues, statesOf, type MakeWorld } from './world.js'

export function closingTests(makeWorld: MakeWorld): void {
  test('closing tells waiters and newcomers that it drains, and lets running work finish', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    const waiters = [a.enter(), a.enter()]
    const other = b.enter()
    await world.settled()
    const closed = vi.fn<(payload: unknown) => void>()
    const closing = a.close({ graceMs: '5s' }).then(closed)
    expect(a.closing).toBe(true)
    expect(a.close()).toBe(a.close())
    const newcomer = a.enter()
    await world.settled()
    for (const ticket of [...waiters, newcomer]) {
      await expect(ticket.granted).rejects.toMatchObject({ code: 'FQ_DRAINING', status: 503 })
    }
    await world.advance(4000)
    expect(closed).not.toHaveBeenCalled()
    expect(lease.signal.aborted).toBe(false)
    expect(await lease.release()).toBe('released')
    await world.settled()
    await closing
    expect(other.state).toBe('granted')
    expect(await b.status()).toMatchObject({ running: 1, waiting: 0 })
  })

  test('what still runs when the grace of closing is over loses its lease, and others go on', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const lost = vi.fn<(payload: unknown) => void>()
    a.on('leaseLost', lost)
    const ticket = a.enter()
    const lease = await ticket.granted
    const other = b.enter()
    await world.settled()
    const closing = a.close({ graceMs: 2000 })
    await world.advance(1900)
    expect(statesOf([ticket, other])).toEqual(['granted', 'waiting'])
    await world.advance(200)
    await closing
    expect(statesOf([ticket, other])).toEqual(['lost', 'granted'])
    expect(lease.signal.reason).toMatchObject({ code: 'FQ_LEASE_LOST', lostBy: 'closed' })
    expect(lost).toHaveBeenCalledTimes(1)
    expect(await lease.release()).toBe('lost')
  })

  test('closing with grace 0 takes leases away at once', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const ticket = a.enter()
    await ticket.granted
    const other = b.enter()
    await world.settled()
    const closing = a.close({ graceMs: 0 })
    await world.settled()
    await closing
    expect(statesOf([ticket, other])).toEqual(['lost', 'granted'])
  })

  test('closing an idle queue is done at once, and a line of its own store goes on', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    await (await a.acquire()).release()
    await a.close()
    await a.close()
    await (await b.acquire()).release()
    expect(await b.status()).toMatchObject({ running: 0, grants: 2 })
  })
}
