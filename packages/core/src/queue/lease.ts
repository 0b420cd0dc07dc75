import { LeaseLostError, type LeaseLostCause } from '../base/errors.js'
import type { Grant } from '../store/contract.js'

/** What a lease needs of the ticket that it came from. */
export interface LeaseOwner {
  /** Moves the ticket on; false if it has ended already. */
  releaseLease(): Promise<void> | undefined
}

/**
 * What a release did: `released` (this call ended the lease), `alreadyReleased` (an earlier one did), `lost` (the store had ended it before).
 */
export type ReleaseResult = 'released' | 'alreadyReleased' | 'lost'

/** The right to run. Release it when the work is done; `await using lease = …` does it by itself. */
export class Lease {
  /** Permits that it occupies. */
  readonly permits: number
  /**
   * A number that grows with every grant of the queue, over all processes. Give it to what you write to, so that it can refuse a writer
   * whose lease was lost meanwhile. 0 when the lease is not counted.
   */
  readonly fence: number
  /** false when it occupies nothing: the queue is not enabled, or the store failed and `onStoreError` is `'open'`. */
  readonly counted: boolean
  /** How long its ticket waited, in milliseconds. */
  readonly waitedMs: number
  readonly #owner: LeaseOwner
  readonly #grantedAtMs: number
  #abort: AbortController | undefined
  #loss: LeaseLostError | undefined
  #released = false

  /** @internal Leases are made by a queue. */
  constructor(owner: LeaseOwner, permits: number, grant: Grant | null, waitedMs: number, nowMs: number) {
    this.#owner = owner
    this.permits = permits
    this.fence = grant?.fence ?? 0
    this.counted = grant !== null
    this.waitedMs = waitedMs
    this.#grantedAtMs = nowMs
  }

  /** Aborts with a `LeaseLostError` when the lease is lost: the work should stop, others may run in its place. Made when first asked for. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#loss !== undefined) this.#abort.abort(this.#loss)
    }
    return this.#abort.signal
  }

  /** Why it was lost, or null. */
  get loss(): LeaseLostError | null {
    return this.#loss ?? null
  }

  /**
   * Gives the permits back; they go to the next ticket in the same step. Idempotent, never rejects.
   * @returns when the store has applied it, or after `storeTimeoutMs` (it is then repeated in the background until it is applied)
   */
  async release(): Promise<ReleaseResult> {
    if (this.#loss !== undefined) return 'lost'
    if (this.#released) return 'alreadyReleased'
    this.#released = true
    await this.#owner.releaseLease()
    return 'released'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal How long it has been held, in milliseconds. */
  heldMs(nowMs: number): number {
    return nowMs - this.#grantedAtMs
  }

  /** @internal The store, the clock or the queue's end took it away. */
  lose(lostBy: LeaseLostCause, nowMs: number): LeaseLostError {
    const heldMs = this.heldMs(nowMs)
    this.#loss = new LeaseLostError(`The lease was lost (${lostBy}) after ${Math.round(heldMs)} ms.`, lostBy, heldMs)
    this.#abort?.abort(this.#loss)
    return this.#loss
  }
}
