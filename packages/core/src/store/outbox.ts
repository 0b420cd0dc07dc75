import type { Slot } from './slot.js'

/** `unpack` in Lua takes at most about 7,990 values; 500 is a good bound for everything (R3). */
export const MOST_OPERATIONS = 500

/** What goes out in one exchange, and again under the same number until it is answered (R4). */
export interface Batch {
  readonly releases: readonly string[]
  readonly cancels: readonly string[]
  readonly acquires: readonly Slot[]
  /** Resolves when it has been applied, or its callers have waited long enough. */
  readonly settled: Deferred
}

/** A promise that can be resolved from outside, made only when asked for. */
export class Deferred {
  /** When somebody first waited for it; undefined while nobody does. Monotonic ms. */
  askedAtMs: number | undefined
  #promise: Promise<void> | undefined
  #resolve: (() => void) | undefined
  #done = false

  get promise(): Promise<void> {
    this.#promise ??= this.#done
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#resolve = resolve
        })
    return this.#promise
  }

  resolve(): void {
    this.#done = true
    this.#resolve?.()
  }
}

/** What is to be told to the store, collected while an exchange is under way. */
export class Outbox {
  #releases = new Set<string>()
  #cancels = new Set<string>()
  #acquires = new Set<Slot>()
  #settled = new Deferred()

  get isEmpty(): boolean {
    return this.#releases.size === 0 && this.#cancels.size === 0 && this.#acquires.size === 0
  }

  /** The acquires that have not been sent, oldest first. */
  get acquires(): ReadonlySet<Slot> {
    return this.#acquires
  }

  /** Resolves with the batch that holds what is in the outbox now. */
  get settled(): Deferred {
    return this.#settled
  }

  acquire(slot: Slot): void {
    this.#acquires.add(slot)
  }

  /** An acquire and its cancel vanish both if neither has been sent (R7). */
  withdraw(slot: Slot): void {
    this.#acquires.delete(slot)
  }

  release(member: string): void {
    this.#releases.add(member)
  }

  cancel(member: string): void {
    this.#cancels.add(member)
  }

  /** Puts acquires before those that came later. */
  acquireFirst(slots: Iterable<Slot>): void {
    this.#acquires = new Set([...slots, ...this.#acquires])
  }

  /** Puts a batch back that was not applied; it goes out again under a new number. */
  putBack(batch: Batch): void {
    for (const member of batch.releases) this.#releases.add(member)
    for (const member of batch.cancels) this.#cancels.add(member)
    this.acquireFirst(batch.acquires)
    void this.#settled.promise.then(() => batch.settled.resolve())
  }

  /** Takes out the next batch. */
  take(): Batch {
    const releases = takeSome(this.#releases, MOST_OPERATIONS)
    const cancels = takeSome(this.#cancels, MOST_OPERATIONS - releases.length)
    const acquires = takeSome(this.#acquires, MOST_OPERATIONS - releases.length - cancels.length)
    // Who waits for a release that did not fit waits on.
    const settled = this.isEmpty ? this.#settled : new Deferred()
    if (this.isEmpty) this.#settled = new Deferred()
    return { releases, cancels, acquires, settled }
  }
}

function takeSome<Item>(items: Set<Item>, most: number): Item[] {
  if (items.size <= most) {
    const all = [...items]
    items.clear()
    return all
  }
  const some: Item[] = []
  for (const item of items) {
    if (some.length === most) break
    some.push(item)
    items.delete(item)
  }
  return some
}
