import type { Lease } from '../queue/lease.js'

/** What a handler behind the gate knows of its place (`req.fairQueue`). */
export interface FairQueueContext {
  /**
   * The ticket's id, while it holds its place; null after that, and when the request passed without a place (bypass, queue not enabled, store
   * down in `'open'` mode).
   */
  readonly ticket: string | null
  /** How long it waited, in milliseconds. */
  readonly waitedMs: number
  /** The right to run; null without a place. It is released by itself when the response has ended. */
  readonly lease: Lease | null
  /**
   * Aborts when the work has lost its purpose or its right: the client has gone before the answer was sent in full (reason: a
   * `CancelledError`), or the lease was lost (reason: a `LeaseLostError`). Works without a place, too.
   */
  readonly signal: AbortSignal
}

/** The same for an adapter. */
export interface Admitted extends FairQueueContext {
  /** The adapter saw the handler's end. Idempotent. */
  handlerDone(): void
}
