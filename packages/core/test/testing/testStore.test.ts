import { FairQueue, OptionError } from '@fairqueue/core'
import { createTestStore, FakeClock } from '@fairqueue/core/testing'
import { describe, expect, test } from 'vitest'

describe('a store for tests', () => {
  test("gives its clock to the queues on it, and a queue's own clock goes first", async () => {
    const store = createTestStore()
    const own = new FakeClock()
    expect(new FairQueue({ name: 'a', store, concurrency: 1 }).options.clock).toBe(store.clock)
    expect(new FairQueue({ name: 'b', store, concurrency: 1, clock: own }).options.clock).toBe(own)
  })

  test('lets a wait run out without anybody waiting for it', async () => {
    const store = createTestStore()
    const queue = new FairQueue({ name: 'reports', store, concurrency: 0, maxWaitMs: '1h' })
    const ticket = queue.enter()
    await store.clock.advance(3_599_999)
    expect(ticket.state).toBe('waiting')
    await store.clock.advance(1)
    await expect(ticket.granted).rejects.toMatchObject({ code: 'FQ_WAIT_TIMEOUT' })
  })

  test('is fresh: another one knows nothing of its queues', async () => {
    const options = { name: 'reports', concurrency: 1 }
    await new FairQueue({ ...options, store: createTestStore() }).acquire()
    const { running } = await new FairQueue({ ...options, store: createTestStore() }).status()
    expect(running).toBe(0)
  })

  test('takes the clock that it is given', () => {
    const clock = new FakeClock()
    expect(createTestStore({ clock }).clock).toBe(clock)
  })

  test('waits until a queue has come to the counts asked for', async () => {
    const store = createTestStore()
    const reached: string[] = []
    const both = store.until('reports', { running: 1, waiting: 1 }).then(() => reached.push('both'))
    const queue = new FairQueue({ name: 'reports', store, concurrency: 1 })
    const lease = await queue.acquire()
    await store.until('reports', { running: 1 })
    expect(reached).toEqual([])
    const next = queue.acquire()
    await both
    await lease.release()
    await (await next).release()
    await store.until('reports', { running: 0, waiting: 0 })
  })

  test('says what it has seen if a queue never comes to the counts asked for', async () => {
    const store = createTestStore()
    await new FairQueue({ name: 'reports', store, concurrency: 1 }).acquire()
    await expect(store.until('reports', { waiting: 2 })).rejects.toThrow(
      'Queue "reports" has not come to {"waiting":2}: 1 running, 0 waiting.',
    )
  })

  test('refuses what is no option, and no clock that moves by hand', () => {
    const create = createTestStore as (options: unknown) => unknown
    expect(() => create({ time: 1 })).toThrow(OptionError)
    expect(() => create(null)).toThrow('Option "options" must be an object, got null.')
    expect(() => create({ clock: { now: () => 0 } })).toThrow('Option "clock" must be a FakeClock')
  })
})
