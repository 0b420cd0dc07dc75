import { expect, test, vi } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { enterInOrder, queues, release, statesOf, type MakeWorld } from './world.js'

export function leaseTests(makeWorld: MakeWorld): void {
  test('B09: releasing twice, also at the same moment, gives one permit back', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 2, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const [first, second] = [await a.acquire(), await b.acquire()]
    const waiters = await enterInOrder(world, a, b, a)
    const results = await Promise.all([first.release(), first.release(), first[Symbol.asyncDispose]()])
    expect(results).toEqual(['released', 'alreadyReleased', undefined])
    expect(await first.release()).toBe('alreadyReleased')
    await world.settled()
    expect(statesOf(waiters)).toEqual(['granted', 'waiting', 'waiting'])
    expect(await a.status()).toMatchObject({ running: 2, free: 0 })
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
    expect(statesOf(waiters)).toEqual(['granted', 'waiting'])
    expect(await late.release()).toBe('lost')
    await world.settled()
    expect(statesOf(waiters)).toEqual(['granted', 'waiting'])
    expect(await a.status()).toMatchObject({ running: 1, free: 0, waiting: 1 })
  })

  test('a lease ends at leaseMs: its signal fires and the permits go to the next', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, leaseMs: 2000, maxWaitMs: '1m' })) as [
      FairQueue,
      FairQueue,
    ]
    const lost = vi.fn<(payload: unknown) => void>()
    a.on('leaseLost', lost)
    const ticket = a.enter({ key: 'k' })
    const lease = await ticket.granted
    const next = b.enter()
    await world.settled()
    await world.advance(1900)
    expect(lease.signal.aborted).toBe(false)
    expect(next.state).toBe('waiting')
    await world.advance(200)
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toMatchObject({ code: 'FQ_LEASE_LOST', lostBy: 'expired' })
    expect(lease.loss).toBe(lease.signal.reason)
    expect(statesOf([ticket, next])).toEqual(['lost', 'granted'])
    expect(lost).toHaveBeenCalledTimes(1)
    expect(lost.mock.calls[0]![0]).toMatchObject({ ticket, key: 'k', permits: 1, error: lease.loss })
    await release(next)
    await world.settled()
    expect(await b.status()).toMatchObject({ running: 0, waiting: 0 })
  })

  test('a signal that is first asked for after the loss has aborted already', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, leaseMs: 1000 })
    const lease = await queue.acquire()
    await world.advance(1100)
    expect(lease.signal.aborted).toBe(true)
  })

  test('run gives back its permits whatever happens, and returns what its function returned', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    expect(await queue.run(({ fence }) => fence > 0)).toBe(true)
    await expect(queue.run(() => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected')
    await expect(
      queue.run(() => {
        throw new Error('thrown')
      }),
    ).rejects.toThrow('thrown')
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0, grants: 3 })
  })

  test('run returns the result also when the lease was lost on the way', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, leaseMs: 1000 })
    const lost = vi.fn<(payload: unknown) => void>()
    queue.on('leaseLost', lost)
    const result = queue.run(async (lease) => {
      await world.advance(1100)
      return lease.signal.aborted
    })
    expect(await result).toBe(true)
    expect(lost).toHaveBeenCalledTimes(1)
  })

  test('a lease left by `await using` is released', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1 })
    {
      await using lease = await queue.acquire()
      expect(lease.counted).toBe(true)
    }
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0 })
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
    expect((await Promise.all(runs)).filter(Boolean)).toHaveLength(90)
    await world.settled()
    expect(await a.status()).toMatchObject({ running: 0, waiting: 0 })
    const fresh = [a.enter(), b.enter()]
    await world.settled()
    expect(statesOf(fresh)).toEqual(['granted', 'granted'])
  })
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
}
