import { FairQueue, MemoryStore, OptionError } from '@fairqueue/core'
import { describe, expect, test } from 'vitest'
import { breathe, FakeClock } from '@fairqueue/core/testing'
import { storeTests } from '@fairqueue/core/testing/store'
import { runSuite } from './kit/suite.js'

runSuite(
  'store',
  'the memory store',
  storeTests(() => {
    const store = new MemoryStore()
    const clock = new FakeClock()
    return {
      queue: async (options) =>
        new FairQueue({ name: 'q', logger: { warn: () => undefined }, ...options, store, clock }),
      advance: (ms) => clock.advance(ms),
      settled: breathe,
    }
  }),
)

describe('a queue without a store', () => {
  test('is one line with every other of its name in this process', async () => {
    const [one, two] = [
      new FairQueue({ name: 'shared', concurrency: 1 }),
      new FairQueue({ name: 'shared', concurrency: 1 }),
    ]
    const lease = await one.acquire()
    const waiting = two.enter()
    expect(waiting.state).toBe('waiting')
    await lease.release()
    expect(waiting.state).toBe('granted')
    await (await waiting.granted).release()
    for (const queue of [one, two]) await queue.close()
  })

  test('and without a name is a line of its own', async () => {
    const [one, two] = [new FairQueue({ concurrency: 1 }), new FairQueue({ concurrency: 1 })]
    const leases = [await one.acquire(), await two.acquire()]
    expect(one.name).not.toBe(two.name)
    for (const lease of leases) await lease.release()
  })

  test('is forgotten when its last instance closes', async () => {
    const first = new FairQueue({ name: 'short-lived', concurrency: 1 })
    await first.configure({ concurrency: 5 })
    await first.close()
    const second = new FairQueue({ name: 'short-lived', concurrency: 1 })
    expect(await second.status()).toMatchObject({ concurrency: 1, version: 0, instances: 1 })
    await second.close()
  })
})

test('a store that is none, and a store without a name, are refused', () => {
  for (const store of [null, 5, {}, 'redis']) {
    expect(() => new FairQueue({ name: 'q', concurrency: 1, store: store as never })).toThrow(/"store"/)
  }
  expect(() => new FairQueue({ concurrency: 1, store: new MemoryStore() })).toThrow(/"name"/)
  expect(() => new FairQueue(undefined as never)).toThrow(OptionError)
})
