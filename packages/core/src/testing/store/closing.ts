import type { FairQueue } from '../../index.js'
import { queues, statesOf, type MakeWorld } from './world.js'
import { deepEqual, equal, matches, rejects } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

export function closingTests(makeWorld: MakeWorld): void {
  test('closing tells waiters and newcomers that it drains, and lets running work finish', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    const waiters = [a.enter(), a.enter()]
    const other = b.enter()
    await world.settled()
    const closed = spy<(payload: unknown) => void>()
    const closing = a.close({ graceMs: '5s' }).then(closed)
    equal(a.closing, true)
    equal(a.close(), a.close())
    const newcomer = a.enter()
    await world.settled()
    for (const ticket of [...waiters, newcomer]) {
      await rejects(ticket.granted, { code: 'FQ_DRAINING', status: 503 })
    }
    await world.advance(4000)
    deepEqual(closed.calls, [])
    equal(lease.signal.aborted, false)
    equal(await lease.release(), 'released')
    await world.settled()
    await closing
    equal(other.state, 'granted')
    matches(await b.status(), { running: 1, waiting: 0 })
  })

  test('what still runs when the grace of closing is over loses its lease, and others go on', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const lost = spy<(payload: unknown) => void>()
    a.on('leaseLost', lost)
    const ticket = a.enter()
    const lease = await ticket.granted
    const other = b.enter()
    await world.settled()
    const closing = a.close({ graceMs: 2000 })
    await world.advance(1900)
    deepEqual(statesOf([ticket, other]), ['granted', 'waiting'])
    await world.advance(200)
    await closing
    deepEqual(statesOf([ticket, other]), ['lost', 'granted'])
    matches(lease.signal.reason, { code: 'FQ_LEASE_LOST', lostBy: 'closed' })
    equal(lost.calls.length, 1)
    equal(await lease.release(), 'lost')
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
    deepEqual(statesOf([ticket, other]), ['lost', 'granted'])
  })

  test('closing an idle queue is done at once, and a line of its own store goes on', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    await (await a.acquire()).release()
    await a.close()
    await a.close()
    await (await b.acquire()).release()
    matches(await b.status(), { running: 0, grants: 2 })
  })
}
