import type { Slot } from './slot.js'

/** `unpack` in Lua takes at most about 7,990 values; 500 is a good bound for everything (R3). */
export const MOST_OPERATIONS = 500

/** What goes out in one exchange, and again under the same number until it is answered (R4). */
export interface Batch {
  readonly releases: readonly string[]
  readonly cancels: readonly string[]
  /** `-:member` and `-claimMs:member`: tickets whose client has gone (R24). */
  readonly leaves: readonly string[]
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

/** Withdrawn acquires stay where they are until there are so many of them. */
const MOST_WITHDRAWN = 1000

/**
 * What is to be told to the store, collected while an exchange is under way. (Arrays that are given away whole: a set that is emptied
 * over and over keeps what was in it alive until a major collection.)
 */
export class Outbox {
  #releases: string[] = []
  #cancels: string[] = []
  #leaves: string[] = []
  #acquires: Slot[] = []
  #withdrawn = 0
  #settled = new Deferred()

  get isEmpty(): boolean {
    return (
      this.#releases.length === 0 &&
      this.#cancels.length === 0 &&
      this.#leaves.length === 0 &&
      this.#acquires.length === this.#withdrawn
    )
  }

  /** The acquires that have not been sent, oldest first. */
  get acquires(): readonly Slot[] {
    return this.#acquires.filter(({ state }) => state === 'unsent')
  }

  /** Resolves with the batch that holds what is in the outbox now. */
  get settled(): Deferred {
    return this.#settled
  }

  acquire(slot: Slot): void {
    this.#acquires.push(slot)
  }

  /** An acquire and its cancel vanish both if neither has been sent (R7). To be told when the slot is no longer `unsent`. */
  withdrawn(): void {
    this.#withdrawn += 1
    if (this.#withdrawn <= MOST_WITHDRAWN || this.#withdrawn * 2 < this.#acquires.length) return
    this.#acquires = [...this.acquires]
    this.#withdrawn = 0
  }

  release(member: string): void {
    this.#releases.push(member)
  }

  /** The release of a grant that nobody wants; news of it may come many times. */
  giveBack(member: string): void {
    if (!this.#releases.includes(member)) this.#releases.push(member)
  }

  cancel(member: string): void {
    this.#cancels.push(member)
  }

  /** Its client has gone. With `claimMs` it is held for so long once its turn has come, else it is put aside. */
  leave(member: string, claimMs: number | null): void {
    this.#leaves.push(`-${claimMs ?? ''}:${member}`)
  }

  /** Puts acquires before those that came later. */
  acquireFirst(slots: readonly Slot[]): void {
    this.#acquires = [...slots, ...this.acquires]
    this.#withdrawn = 0
  }

  /** Puts a batch back that was not applied; it goes out again under a new number. */
  putBack(batch: Batch): void {
    this.#releases = [...batch.releases, ...this.#releases]
    this.#cancels = [...batch.cancels, ...this.#cancels]
    this.#leaves = [...batch.leaves, ...this.#leaves]
    this.acquireFirst(batch.acquires)
    void this.#settled.promise.then(() => batch.settled.resolve())
  }

  /** Takes out the next batch. */
  take(): Batch {
    if (this.#withdrawn > 0) this.acquireFirst([])
    const releases = this.#releases
    this.#releases = releases.length > MOST_OPERATIONS ? releases.splice(MOST_OPERATIONS) : []
    const cancels = this.#cancels
    const cancelsAtMost = MOST_OPERATIONS - releases.length
    this.#cancels = cancels.length > cancelsAtMost ? cancels.splice(cancelsAtMost) : []
    const leaves = this.#leaves
    const leavesAtMost = cancelsAtMost - cancels.length
    this.#leaves = leaves.length > leavesAtMost ? leaves.splice(leavesAtMost) : []
    const acquires = this.#acquires
    const acquiresAtMost = leavesAtMost - leaves.length
    this.#acquires = acquires.length > acquiresAtMost ? acquires.splice(acquiresAtMost) : []
    // Who waits for a release that did not fit waits on.
    const settled = this.isEmpty ? this.#settled : new Deferred()
    if (this.isEmpty) this.#settled = new Deferred()
    return { releases, cancels, leaves, acquires, settled }
  }
}
