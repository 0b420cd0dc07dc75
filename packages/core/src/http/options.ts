import type { Duration } from '../base/duration.js'
import type { Logger } from '../base/logger.js'
import type { FairQueueCore } from '../queue/fairQueue.js'
import type { FairQueueOptions } from '../queue/options.js'
import type { Message } from './answer.js'
import type { RateLimitDraft } from './rateLimitFields.js'
import type { Refusal, StatusOverride } from './refusal.js'
import type { SseFormatName } from './sseFormat.js'

/**
 * What an adapter's middleware can be told, besides the options of the queue that it makes. `Request` is the framework's request.
 * Durations are milliseconds or text such as `'20s'`. Functions of the request are called once per request.
 */
export interface HttpOptions<Request> {
  /** A queue to share, or a choice among queues. Default: the middleware makes its own from the queue's options. */
  readonly queue?: FairQueueCore | ((request: Request) => FairQueueCore)
  /**
   * Whose request it is (user, tenant, API key). `undefined`, `null` or `''`: nobody's. May return a promise, which has one second. What it
   * throws goes to the framework's error handling, before any place is taken. Default: nobody's.
   */
  readonly keyGenerator?: (request: Request) => Key | PromiseLike<Key>
  /** true lets a request pass without a place. May return a promise, which has one second. Default: nobody. */
  readonly skip?: (request: Request) => boolean | PromiseLike<boolean>
  /** Units of `concurrency` that a request occupies: a whole number ≥ 1. A function's nonsense counts as 1 and is told as `error`. Default 1. */
  readonly permits?: number | ((request: Request) => number)
  /** How long a request may wait; 0: try once. A function's nonsense counts as the default and is told as `error`. Default: the queue's, 30 s. */
  readonly maxWaitMs?: Duration | ((request: Request) => Duration)
  /** How long a waiting response stays untouched before its client is told. 0: at once. Default 250 ms. */
  readonly statusDelayMs?: Duration
  /** How often a waiting stream shows that it lives. Greater than 0. Default 15 s. */
  readonly heartbeatMs?: Duration
  /**
   * The queue stands before the parser of a large body (multer, busboy, a proxy): the body stays with its sender until the turn has come.
   * true checks each request for that: one whose body something before has begun to read is an `OptionError` for the framework's error
   * handling, since parts of it could get lost. Refusals over the limit are 429 unless `statusCode` says otherwise. Default false.
   */
  readonly upload?: boolean
  /** Who is told of the wait in a stream of events: who asked for it in `Accept` (`'auto'`, default), everybody, nobody. */
  readonly sse?: 'auto' | 'always' | 'never'
  /**
   * The form of these events. `'universal'` (default): events that nearly every client can digest, those of LLM interfaces too; the news are
   * in `JSON.parse(event.data).data`. `'plain'`: for routes that only readers such as `EventSource` call; the news are
   * `JSON.parse(event.data)`. `'comment'`: `: queue {…}`, which no client takes for an event, for those that refuse events they do not know.
   */
  readonly sseFormat?: SseFormatName
  /**
   * How long the place of a client is kept whose connection broke after it was told its ticket: it comes back by itself (`EventSource`), or with
   * the header `Fairqueue-Ticket`, to any process. Meanwhile its turn passes it by. 0: not at all. Default 10 s.
   */
  readonly resumeGraceMs?: Duration
  /** A query parameter that may bring the ticket, for clients who can set no header. Default: none. */
  readonly ticketParameter?: string
  /**
   * Who gets a `202 Accepted` instead of waiting on the connection: who asks for it by `Prefer: respond-async` (`'auto'`, default), everybody who
   * does not ask for events, nobody. `Location` is where to look at the place, at least every `resumeGraceMs` (3 s at the least); once its turn has
   * come, the request is to be sent again with the header `Fairqueue-Ticket`, within `claimMs`.
   */
  readonly respondAsync?: 'auto' | 'always' | 'never'
  /** How long a turn is held for a client that got a `202`. Greater than 0. Default 10 s. */
  readonly claimMs?: Duration
  /** How long a handler whose client has gone keeps the place, where its end cannot be seen. 0: not at all. Default 5 s. */
  readonly abortGraceMs?: Duration
  /** How long a client that does not read keeps the place after the handler has ended the response. 0: not at all. Default 10 s. */
  readonly sendGraceMs?: Duration
  /**
   * Status of refusals instead of the default: a number for requests over the limit (`FQ_QUEUE_FULL`, `FQ_KEY_LIMIT`,
   * `FQ_WAIT_TIMEOUT`), or one per code, e.g. `{ FQ_WAIT_TIMEOUT: 429 }`.
   */
  readonly statusCode?: StatusOverride
  /** Replaces the problem document: a text, an object (sent as JSON), or a function that returns one. */
  readonly message?: Message | ((request: Request, refusal: Refusal) => Message)
  /** Replaces the whole answer; each adapter says with which arguments it is called. */
  readonly handler?: (...args: never[]) => unknown
  /** Sees every refusal, whatever is sent. What it throws is told as the queue's `error`. */
  readonly onRejected?: (request: Request, refusal: Refusal) => void
  /**
   * Which version of draft-ietf-httpapi-ratelimit-headers the fields follow that refusals over the limit carry. `'draft-8'` (default):
   * `RateLimit-Policy` and `RateLimit`, joining those of other limiters; `'draft-7'`: one `RateLimit`; `'draft-6'`: `RateLimit-Limit`,
   * `-Remaining` and `-Reset`. false: none.
   */
  readonly standardHeaders?: RateLimitDraft | false
  /** `maxMs` caps `Retry-After` (default 1 h, at least 1 s); `jitter` (0 to 1, default 0) adds a random share of up to so much. */
  readonly retryAfter?: { readonly maxMs?: Duration; readonly jitter?: number }
  /** Where warnings go. Default: the queue's. */
  readonly logger?: Logger
}

/** What a `keyGenerator` may return. */
export type Key = string | null | undefined

/** All options of a middleware: its own, and those of the queue that it makes. */
export type GateOptions<Request> = HttpOptions<Request> & Partial<Omit<FairQueueOptions, keyof HttpOptions<Request>>>
