import type { FairQueue } from '../../index.js'
import { enterInOrder, queues, release, statesOf, type MakeWorld } from './world.js'
import { deepEqual, equal, matches, rejects } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

export function leaseTests(makeWorld: MakeWorld): void {
  test('B09: releasing twice, also at the same moment, gives one permit back', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 2, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const [first, second] = [await a.acquire(), await b.acquire()]
    const waiters = await enterInOrder(world, a, b, a)
    const results = await Promise.all([first.release(), first.release(), first[Symbol.asyncDispose]()])
    deepEqual(results, ['released', 'alreadyReleased', undefined])
    equal(await first.release(), 'alreadyReleased')
    await world.settled()
    deepEqual(statesOf(waiters), ['granted', 'waiting', 'waiting'])
    matches(await a.status(), { running: 2, free: 0 })
    await second.release()
  })

  test('B09: a release after the lease has ended takes nothing from whoever runs now', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, leaseMs: 5000, maxWaitMs: '1m' })) as [
      FairQueue,
      FairQueue,
    ]
    const late = await a.acquire()
    const waiters = await enterInOrder(world, b, a)
    await world.advance(5100)
    deepEqual(statesOf(waiters), ['granted', 'waiting'])
    equal(await late.release(), 'lost')
    await world.settled()
    deepEqual(statesOf(waiters), ['granted', 'waiting'])
    matches(await a.status(), { running: 1, free: 0, waiting: 1 })
  })

  test('a lease ends at leaseMs: its signal fires and the permits go to the next', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, leaseMs: 2000, maxWaitMs: '1m' })) as [
      FairQueue,
      FairQueue,
    ]
    const lost = spy<(payload: unknown) => void>()
    a.on('leaseLost', lost)
    const ticket = a.enter({ key: 'k' })
    const lease = await ticket.granted
    const next = b.enter()
    await world.settled()
    await world.advance(1900)
    equal(lease.signal.aborted, false)
    equal(next.state, 'waiting')
    await world.advance(200)
    equal(lease.signal.aborted, true)
    matches(lease.signal.reason, { code: 'FQ_LEASE_LOST', lostBy: 'expired' })
    equal(lease.loss, lease.signal.reason)
    deepEqual(statesOf([ticket, next]), ['lost', 'granted'])
    equal(lost.calls.length, 1)
    matches(lost.calls[0]![0], { ticket, key: 'k', permits: 1, error: lease.loss })
    await release(next)
    await world.settled()
    matches(await b.status(), { running: 0, waiting: 0 })
  })

  test('a signal that is first asked for after the loss has aborted already', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, leaseMs: 1000 })
    const lease = await queue.acquire()
    await world.advance(1100)
    equal(lease.signal.aborted, true)
  })

  test('run gives back its permits whatever happens, and returns what its function returned', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    equal(await queue.run(({ fence }) => fence > 0), true)
    await rejects(
      queue.run(() => Promise.reject(new Error('rejected'))),
      'rejected',
    )
    await rejects(
      queue.run(() => {
        throw new Error('thrown')
      }),
      'thrown',
    )
    await world.settled()
    matches(await queue.status(), { running: 0, waiting: 0, grants: 3 })
  })

  test('run returns the result also when the lease was lost on the way', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, leaseMs: 1000 })
    const lost = spy<(payload: unknown) => void>()
    queue.on('leaseLost', lost)
    const result = queue.run(async (lease) => {
      await world.advance(1100)
      return lease.signal.aborted
    })
    equal(await result, true)
    equal(lost.calls.length, 1)
  })

  test('a lease left by `await using` is released', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    {
      await using lease = await queue.acquire()
      equal(lease.counted, true)
    }
    await world.settled()
    matches(await queue.status(), { running: 0 })
  })

  test('B01: nothing leaks over aborts, throws and rejections beside good traffic', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 2, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const runs: Promise<boolean>[] = []
    const settle = (run: Promise<unknown>): void => {
      runs.push(
        run.then(
          () => true,
          () => false,
        ),
      )
    }
    for (let index = 0; index < 90; index += 1) {
      const controller = new AbortController()
      const options = { signal: controller.signal }
      if (index % 3 === 0) {
        settle(
          a.run(() => {
            throw new Error('sync')
          }, options),
        )
      } else if (index % 3 === 1) {
        settle(b.run(() => Promise.reject(new Error('async')), options))
      } else {
        // Aborted in the line, or while its function works.
        settle(a.run(() => untilAborted(controller.signal), options))
        if (index % 2 === 0) await world.settled()
        controller.abort(new Error('gone'))
      }
      settle(b.run(() => 'good'))
      if (index % 7 === 0) await world.settled()
    }
    equal((await Promise.all(runs)).filter(Boolean).length, 90)
    await world.settled()
    matches(await a.status(), { running: 0, waiting: 0 })
    const fresh = [a.enter(), b.enter()]
    await world.settled()
    deepEqual(statesOf(fresh), ['granted', 'granted'])
  })
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}
