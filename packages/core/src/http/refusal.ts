import type { ErrorCode, FairQueueError } from '../base/errors.js'
import type { FairQueueCore } from '../queue/fairQueue.js'
import { retryAfterSeconds, type RetryAfterTerms } from './retryAfter.js'

/** Codes that a refused request can carry. */
export type RefusalCode = Extract<
  ErrorCode,
  | 'FQ_QUEUE_FULL'
  | 'FQ_KEY_LIMIT'
  | 'FQ_WAIT_TIMEOUT'
  | 'FQ_STORE_UNAVAILABLE'
  | 'FQ_DRAINING'
  | 'FQ_PERMITS_EXCEED_LIMIT'
  | 'FQ_PLACE_LOST'
>

/** All of them. */
export const refusalCodes: readonly RefusalCode[] = [
  'FQ_QUEUE_FULL',
  'FQ_KEY_LIMIT',
  'FQ_WAIT_TIMEOUT',
  'FQ_STORE_UNAVAILABLE',
  'FQ_DRAINING',
  'FQ_PERMITS_EXCEED_LIMIT',
  'FQ_PLACE_LOST',
]

/** Which status a refusal gets instead of its own; see the option `statusCode`. */
export type StatusOverride = number | { readonly [Code in RefusalCode]?: number } | undefined

/** Why a request was refused, as the user's own functions see it. */
export interface Refusal {
  readonly code: ErrorCode
  /** The HTTP status that the answer carries. */
  readonly status: number
  /** What happened, in one English sentence. */
  readonly message: string
  /** Whole seconds as in the header `Retry-After`; null where trying again cannot help. */
  readonly retryAfter: number | null
  /** The queue's name. */
  readonly queue: string
  readonly key: string | null
  /** How long the request waited, in milliseconds. */
  readonly waitedMs: number
  readonly error: FairQueueError
}

/** What decides about a refusal besides the error. */
export interface RefusalTerms {
  readonly statusCode: StatusOverride
  readonly retryAfter: RetryAfterTerms
}

/** Whether a refusal is a verdict of the limit, and not a sign that nobody could decide or that the request itself is wrong. */
export function isOverLimit(code: ErrorCode): boolean {
  return code === 'FQ_QUEUE_FULL' || code === 'FQ_KEY_LIMIT' || code === 'FQ_WAIT_TIMEOUT'
}

/** What the limit is called that was hit: the queue's own, or that of each key. */
export function policyNameOf({ code, queue }: Pick<Refusal, 'code' | 'queue'>): string {
  return code === 'FQ_KEY_LIMIT' ? `${queue}/key` : queue
}

/** Makes the record of a refusal. */
export function describeRefusal(
  error: FairQueueError,
  queue: FairQueueCore,
  place: { readonly key: string | null; readonly waitedMs: number },
  terms: RefusalTerms,
): Refusal {
  const { code, message, retryAfterMs } = error
  const status = statusOf(error, terms.statusCode)
  return {
    code,
    status,
    message,
    retryAfter:
      error.status === 400 || code === 'FQ_PLACE_LOST'
        ? null
        : retryAfterSeconds(retryAfterMs, terms.retryAfter, Math.random()),
    queue: queue.name,
    key: place.key,
    waitedMs: place.waitedMs,
    error,
  }
}

/** A plain number speaks of the limit only: an outage must never look like the client's fault. */
function statusOf({ code, status }: FairQueueError, override: StatusOverride): number {
  if (override === undefined) return status
  if (typeof override === 'number') return isOverLimit(code) ? override : status
  return override[code as RefusalCode] ?? status
}
