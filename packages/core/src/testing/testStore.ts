import { optionError, refuseUnknown } from '../base/options.js'
import { MemoryStore } from '../memory/memoryStore.js'
import type { Instance, JoinOptions } from '../store/contract.js'
import { FakeClock } from './fakeClock.js'

/** Options of {@link createTestStore}. */
export interface TestStoreOptions {
  /** Default: one of its own, at 0. Give the same one to two stores whose queues are to live in one time. */
  readonly clock?: FakeClock
}

/** What of a queue {@link TestStore.until} waits for. */
export interface QueueCounts {
  /** Permits in use. */
  readonly running?: number
  /** Tickets that wait. */
  readonly waiting?: number
}

/** Nothing that a test waits for takes so long, unless it never happens. */
const LONGEST_MS = 5000

/** Where the lines of one test live: in memory, in a time that moves by hand only. */
export class TestStore extends MemoryStore {
  /** The time of all queues on this store that are given no other. */
  readonly clock: FakeClock
  readonly #instances = new Map<string, Instance>()

  /** @internal */
  constructor(clock: FakeClock) {
    super()
    this.clock = clock
  }

  override join(options: JoinOptions): Instance {
    const instance = super.join(options)
    this.#instances.set(options.name, instance)
    return instance
  }

  /**
   * Waits until the queue `name` has come to these counts: requests that a test has just sent need a moment until they stand in line. Time
   * on the store's clock does not move meanwhile. A queue that nobody has made yet counts as empty.
   * @throws Error after 5 seconds of real time; it tells the counts
   */
  async until(name: string, counts: QueueCounts): Promise<void> {
    const { running, waiting } = counts
    const giveUpAtMs = performance.now() + LONGEST_MS
    for (;;) {
      const now = (await this.#instances.get(name)?.status([])) ?? { running: 0, waiting: 0 }
      if ((running ?? now.running) === now.running && (waiting ?? now.waiting) === now.waiting) return
      if (performance.now() > giveUpAtMs) {
        const wanted = JSON.stringify({ running, waiting })
        throw new Error(
          `Queue ${JSON.stringify(name)} has not come to ${wanted}: ${now.running} running, ${now.waiting} waiting.`,
        )
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
}

/**
 * A store for one test: fresh, in memory, and on a clock that moves by hand only. Give it to what you test where in production you give
 * a `RedisStore`; every queue on it goes by its clock.
 * @throws OptionError naming the option and what it got
 * @example
 * const store = createTestStore()
 * const app = createApp({ store })
 * // … send requests, then let all waits run out:
 * await store.clock.advance(30_000)
 */
export function createTestStore(options: TestStoreOptions = {}): TestStore {
  if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
  refuseUnknown(options, new Set<string>(['clock'] satisfies (keyof TestStoreOptions)[]))
  const { clock = new FakeClock() } = options
  if (!(clock instanceof FakeClock)) throw optionError('clock', 'a FakeClock', clock)
  return new TestStore(clock)
}
