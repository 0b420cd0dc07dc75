export { breathe, FakeClock } from './testing/fakeClock.js'
export type { PendingTimers } from './testing/fakeClock.js'
export { createTestStore, TestStore } from './testing/testStore.js'
export type { QueueCounts, TestStoreOptions } from './testing/testStore.js'
