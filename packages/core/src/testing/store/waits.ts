import type { FairQueue } from '../../index.js'
import { queues, release, statesOf, type MakeWorld } from './world.js'
import { deepEqual, equal, matches, rejects } from '../assertions.js'
import { test } from '../suite.js'

export function waitTests(makeWorld: MakeWorld): void {
  test('with maxQueueSize 0 there is no line: whoever cannot run is refused', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxQueueSize: 0 })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    await rejects(b.acquire(), { code: 'FQ_QUEUE_FULL', status: 503 })
    await lease.release()
    await world.settled()
    await (await b.acquire()).release()
  })

  test('a full line refuses the next, and takes one in when a place is free', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxQueueSize: 2, maxWaitMs: '1m' })) as [
      FairQueue,
      FairQueue,
    ]
    const lease = await a.acquire()
    const waiters = [a.enter(), b.enter()]
    await world.settled()
    const refused = b.enter()
    await world.settled()
    equal(refused.state, 'rejected')
    matches(refused.outcome, { code: 'FQ_QUEUE_FULL' })
    waiters[0]!.cancel()
    await world.settled()
    const taken = b.enter()
    await world.settled()
    equal(taken.state, 'waiting')
    await lease.release()
    await world.settled()
    deepEqual(statesOf(waiters), ['cancelled', 'granted'])
  })

  test('maxWaitMs 0 tries once: it runs if it can, and is told at once if not', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: 0 })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    await rejects(b.acquire(), { code: 'FQ_WAIT_TIMEOUT', status: 503 })
    await world.settled()
    matches(await a.status(), { running: 1, waiting: 0 })
    await lease.release()
    await world.settled()
    await (await b.acquire()).release()
  })

  test('a wait ends after maxWaitMs, not before, and leaves no trace', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '20s' })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    const patient = b.enter()
    const hasty = b.enter({ maxWaitMs: 500 })
    await world.settled()
    await world.advance(499)
    equal(hasty.state, 'waiting')
    await world.advance(1)
    equal(hasty.state, 'timedOut')
    matches(hasty.outcome, { code: 'FQ_WAIT_TIMEOUT' })
    await world.advance(19_499)
    equal(patient.state, 'waiting')
    await world.advance(1)
    equal(patient.state, 'timedOut')
    await world.settled()
    matches(await a.status(), { running: 1, waiting: 0 })
    await lease.release()
    await world.settled()
    matches(await a.status(), { running: 0, waiting: 0 })
  })

  test('who cancels before entering never stands in the line', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    const reason = new Error('changed my mind')
    const ticket = queue.enter({ signal: AbortSignal.abort(reason) })
    equal(ticket.state, 'cancelled')
    await rejects(ticket.granted, { code: 'FQ_CANCELLED', name: 'AbortError', cause: reason })
    await world.settled()
    matches(await queue.status(), { running: 0, waiting: 0, grants: 0 })
  })

  test('who cancels in the tick of entering gives back whatever was granted', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, maxWaitMs: '1m' })
    const first = queue.enter()
    first.cancel()
    const second = queue.enter()
    await world.settled()
    if (first.state === 'granted') await release(first)
    await world.settled()
    equal(second.state, 'granted')
    matches(await queue.status(), { running: 1, waiting: 0 })
  })

  test('who cancels while the acquire is under way leaves no trace', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const controller = new AbortController()
    const ticket = a.enter({ signal: controller.signal })
    await new Promise((resolve) => process.nextTick(resolve))
    controller.abort()
    await world.settled()
    if (ticket.state === 'granted') await release(ticket)
    const next = b.enter()
    await world.settled()
    equal(next.state, 'granted')
    matches(await a.status(), { running: 1, waiting: 0 })
  })

  test('who cancels in the line lets the others move up', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 2, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire()
    const controller = new AbortController()
    const wide = b.enter({ permits: 2, signal: controller.signal })
    await world.settled()
    const narrow = a.enter()
    await world.settled()
    deepEqual(statesOf([wide, narrow]), ['waiting', 'waiting'])
    controller.abort('gone')
    await world.settled()
    deepEqual(statesOf([wide, narrow]), ['cancelled', 'granted'])
    matches(wide.outcome, { code: 'FQ_CANCELLED', cause: 'gone' })
    await holder.release()
  })

  test('a signal that aborts after the grant changes nothing, and nobody listens to it any more', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    const controller = new AbortController()
    const removed: string[] = []
    const remove = controller.signal.removeEventListener.bind(controller.signal)
    controller.signal.removeEventListener = (...[type, listener]: Parameters<typeof remove>) => {
      removed.push(type)
      remove(type, listener)
    }
    const ticket = queue.enter({ signal: controller.signal })
    await ticket.granted
    controller.abort()
    ticket.cancel()
    await world.settled()
    equal(ticket.state, 'granted')
    deepEqual(removed, ['abort'])
    matches(await queue.status(), { running: 1 })
  })

  test('a wait that is given up in the tick in which its turn comes is granted or cancelled, and the next runs either way', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire()
    const [first, second] = [b.enter(), a.enter()]
    await world.settled()
    const released = holder.release()
    first.cancel()
    await released
    await world.settled()
    matches(first.state, /^(granted|cancelled)$/)
    if (first.state === 'granted') await release(first)
    await world.settled()
    equal(second.state, 'granted')
    matches(await a.status(), { running: 1, waiting: 0 })
  })
}
