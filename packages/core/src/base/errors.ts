/** Every `code` that a {@link FairQueueError} can carry. Codes are stable: programs may compare them. */
export type ErrorCode =
  | 'FQ_QUEUE_FULL'
  | 'FQ_KEY_LIMIT'
  | 'FQ_WAIT_TIMEOUT'
  | 'FQ_STORE_UNAVAILABLE'
  | 'FQ_DRAINING'
  | 'FQ_PERMITS_EXCEED_LIMIT'
  | 'FQ_PLACE_LOST'
  | 'FQ_CANCELLED'
  | 'FQ_LEASE_LOST'
  | 'FQ_CONFLICT'
  | 'FQ_INVALID_OPTION'

/** What an error may be made with, besides its message. */
export interface ErrorDetails {
  /** A hint when trying again may succeed, in milliseconds; null when nothing is known. */
  readonly retryAfterMs?: number | null
  /** What led to this error. */
  readonly cause?: unknown
}

/** Two copies of this package may be loaded (ESM and CommonJS): errors are recognised by this brand, not by `instanceof`. */
const BRAND = Symbol.for('fairqueue.error')

/**
 * Base of all errors of this library.
 * @property code stable word for programs
 * @property status the HTTP status that says the same (0: never sent)
 * @property retryAfterMs hint when trying again may succeed, or null
 */
export class FairQueueError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly retryAfterMs: number | null

  constructor(code: ErrorCode, status: number, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = new.target.name
    Object.defineProperty(this, BRAND, { value: true })
    this.code = code
    this.status = status
    this.retryAfterMs = details.retryAfterMs ?? null
  }
}

/** Whether a value is an error of this library, also one of another loaded copy of it. */
export function isFairQueueError(value: unknown): value is FairQueueError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** The line already holds `maxQueueSize` tickets (503). */
export class QueueFullError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_QUEUE_FULL', 503, message, details)
  }
}

/** As many tickets of its key wait as `perKey.maxQueueSize` allows (429). */
export class KeyLimitError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_KEY_LIMIT', 429, message, details)
  }
}

/** The ticket waited `maxWaitMs` and its turn did not come (503). */
export class WaitTimeoutError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_WAIT_TIMEOUT', 503, message, details)
  }
}

/** The store could not decide in time; this says nothing about the limit (503). `cause` is the store's own error. */
export class StoreUnavailableError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_STORE_UNAVAILABLE', 503, message, details)
  }
}

/** This instance is closing and takes nobody in (503). */
export class DrainingError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_DRAINING', 503, message, details)
  }
}

/** The ticket wants more permits than the limit can ever give: 400 at the door, 503 when the limit fell while it waited. */
export class PermitsError extends FairQueueError {
  constructor(message: string, status: 400 | 503, details?: ErrorDetails) {
    super('FQ_PERMITS_EXCEED_LIMIT', status, message, details)
  }
}

/** The place that was to be taken up again is not there: it has ended, its turn was used, or another request has taken it up (410). */
export class PlaceLostError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_PLACE_LOST', 410, message, details)
  }
}

/** The caller gave the ticket up. Its `name` is `AbortError`, its `cause` the signal's reason. */
export class CancelledError extends FairQueueError {
  constructor(message: string, details?: ErrorDetails) {
    super('FQ_CANCELLED', 499, message, details)
    this.name = 'AbortError'
  }
}

/** Why a lease ended before its work did. */
export type LeaseLostCause = 'expired' | 'forgotten' | 'taken' | 'closed'

/**
 * Reason of `lease.signal`: the right to run has ended although the work has not.
 * @property lostBy `expired`: it ran for `leaseMs`; `forgotten`: the store took this process for dead; `taken`: the store no longer
 *   lists it; `closed`: the queue was closed and its grace is over
 * @property heldMs how long it was held, in milliseconds
 */
export class LeaseLostError extends FairQueueError {
  readonly lostBy: LeaseLostCause
  readonly heldMs: number

  constructor(message: string, lostBy: LeaseLostCause, heldMs: number, details?: ErrorDetails) {
    super('FQ_LEASE_LOST', 0, message, details)
    this.lostBy = lostBy
    this.heldMs = heldMs
  }
}

/**
 * Settings were changed by somebody else since the version that this change was based on (409).
 * @property version the version in force now
 */
export class ConflictError extends FairQueueError {
  readonly version: number

  constructor(message: string, version: number) {
    super('FQ_CONFLICT', 409, message)
    this.version = version
  }
}

/**
 * An option has a value that it cannot have.
 * @property option the option's name
 */
export class OptionError extends FairQueueError {
  readonly option: string

  constructor(option: string, message: string) {
    super('FQ_INVALID_OPTION', 0, message)
    this.option = option
  }
}
