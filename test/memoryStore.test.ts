import { FairQueue, MemoryStore } from '@fairqueue/core'
import { breathe, FakeClock } from './kit/fakeClock.js'
import { storeSuite } from './suites/storeSuite.js'

storeSuite('the memory store', () => {
  const store = new MemoryStore()
  const clock = new FakeClock()
  return {
    queue: async (options) => new FairQueue({ name: 'q', logger: { warn: () => undefined }, ...options, store, clock }),
    advance: (ms) => clock.advance(ms),
    settled: breathe,
  }
})
