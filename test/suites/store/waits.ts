import { expect, test } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { queues, release, statesOf, type MakeWorld } from './world.js'

export function waitTests(makeWorld: MakeWorld): void {
  test('with maxQueueSize 0 there is no line: whoever cannot run is refused', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxQueueSize: 0 })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    await expect(b.acquire()).rejects.toMatchObject({ code: 'FQ_QUEUE_FULL', status: 503 })
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
    expect(refused.state).toBe('rejected')
    expect(refused.outcome).toMatchObject({ code: 'FQ_QUEUE_FULL' })
    waiters[0]!.cancel()
    await world.settled()
    const taken = b.enter()
    await world.settled()
    expect(taken.state).toBe('waiting')
    await lease.release()
    await world.settled()
    expect(statesOf(waiters)).toEqual(['cancelled', 'granted'])
  })

  test('maxWaitMs 0 tries once: it runs if it can, and is told at once if not', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: 0 })) as [FairQueue, FairQueue]
    const lease = await a.acquire()
    await expect(b.acquire()).rejects.toMatchObject({ code: 'FQ_WAIT_TIMEOUT', status: 503 })
    await world.settled()
    expect(await a.status()).toMatchObject({ running: 1, waiting: 0 })
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
    expect(hasty.state).toBe('waiting')
    await world.advance(1)
    expect(hasty.state).toBe('timedOut')
    expect(hasty.outcome).toMatchObject({ code: 'FQ_WAIT_TIMEOUT' })
    await world.advance(19_499)
    expect(patient.state).toBe('waiting')
    await world.advance(1)
    expect(patient.state).toBe('timedOut')
    await world.settled()
    expect(await a.status()).toMatchObject({ running: 1, waiting: 0 })
    await lease.release()
    await world.settled()
    expect(await a.status()).toMatchObject({ running: 0, waiting: 0 })
  })

  test('who cancels before entering never stands in the line', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    const reason = new Error('changed my mind')
    const ticket = queue.enter({ signal: AbortSignal.abort(reason) })
    expect(ticket.state).toBe('cancelled')
    await expect(ticket.granted).rejects.toMatchObject({ code: 'FQ_CANCELLED', name: 'AbortError', cause: reason })
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0, grants: 0 })
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
    expect(second.state).toBe('granted')
    expect(await queue.status()).toMatchObject({ running: 1, waiting: 0 })
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
    expect(next.state).toBe('granted')
    expect(await a.status()).toMatchObject({ running: 1, waiting: 0 })
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
    expect(statesOf([wide, narrow])).toEqual(['waiting', 'waiting'])
    controller.abort('gone')
    await world.settled()
    expect(statesOf([wide, narrow])).toEqual(['cancelled', 'granted'])
    expect(wide.outcome).toMatchObject({ code: 'FQ_CANCELLED', cause: 'gone' })
    await holder.release()
  })

  test('a signal that aborts after the grant changes nothing, and nobody listens to it any more', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    const controller = new AbortController()
    const removed: string[] = []
    const remove = controller.signal.removeEventListener.bind(controller.signal)
    controller.signal.removeEventListener = (type: string, listener: EventListener) => {
      removed.push(type)
      remove(type, listener)
    }
    const ticket = queue.enter({ signal: controller.signal })
    await ticket.granted
    controller.abort()
    ticket.cancel()
    await world.settled()
    expect(ticket.state).toBe('granted')
    expect(removed).toEqual(['abort'])
    expect(await queue.status()).toMatchObject({ running: 1 })
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
    expect(first.state).toMatch(/^(granted|cancelled)$/)
    if (first.state === 'granted') await release(first)
    await world.settled()
    expect(second.state).toBe('granted')
    expect(await a.status()).toMatchObject({ running: 1, waiting: 0 })
  })
}
