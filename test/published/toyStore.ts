import {
  FairQueue,
  MemoryStore,
  type Instance,
  type JoinOptions,
  type Place,
  type Settings,
  type SettingsChange,
  type SettingsRecord,
  type Store,
  type StoreStatus,
} from '@fairqueue/core'
import { breathe, FakeClock } from '@fairqueue/core/testing'
import type { StoreWorld } from '@fairqueue/core/testing/store'

/** What is wrong with a toy store. */
export type StoreFault =
  | 'lets in one too many'
  | 'forgets who gives up'
  | 'finds no place again'
  | 'forgets what operators set'

/** A store as somebody else may write it: it knows the public contract only. It hands on to another one, and may have a fault. */
class ToyStore implements Store {
  readonly kind = 'toy'
  readonly #inner = new MemoryStore()
  readonly #fault: StoreFault | undefined

  constructor(fault: StoreFault | undefined) {
    this.#fault = fault
  }

  join(options: JoinOptions): Instance {
    const { declared } = options
    const tooMany: Settings = { ...declared, concurrency: declared.concurrency + 1 }
    const inner = this.#inner.join(this.#fault === 'lets in one too many' ? { ...options, declared: tooMany } : options)
    return new ToyInstance(inner, this.#fault)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

class ToyInstance implements Instance {
  readonly #inner: Instance
  readonly #fault: StoreFault | undefined

  constructor(inner: Instance, fault: StoreFault | undefined) {
    this.#inner = inner
    this.#fault = fault
  }

  get id(): string {
    return this.#inner.id
  }

  enter(place: Place): void {
    this.#inner.enter(place)
  }

  async giveUp(place: Place): Promise<void> {
    if (this.#fault !== 'forgets who gives up') await this.#inner.giveUp(place)
  }

  resume(name: string, place: Place, claims: boolean): void {
    if (this.#fault === 'finds no place again') place.onRefused('unknown')
    else this.#inner.resume(name, place, claims)
  }

  nameOf(place: Place): string | null {
    return this.#inner.nameOf(place)
  }

  putAside(place: Place): void {
    this.#inner.putAside(place)
  }

  keep(place: Place, claimMs: number): void {
    this.#inner.keep(place, claimMs)
  }

  status(sample: readonly Place[]): Promise<StoreStatus> {
    return this.#inner.status(sample)
  }

  configure(change: SettingsChange): Promise<SettingsRecord> {
    return this.#inner.configure(this.#fault === 'forgets what operators set' ? { ...change, values: {} } : change)
  }

  leave(withinMs: number): Promise<void> {
    return this.#inner.leave(withinMs)
  }
}

/** A toy store under test. */
export function toyWorld(fault?: StoreFault): StoreWorld {
  const store = new ToyStore(fault)
  const clock = new FakeClock()
  return {
    queue: async (options) => new FairQueue({ name: 'q', logger: { warn: () => undefined }, ...options, store, clock }),
    advance: (ms) => clock.advance(ms),
    settled: breathe,
  }
}
