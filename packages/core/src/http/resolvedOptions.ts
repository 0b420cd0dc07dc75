import { OptionError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import {
  optionError,
  readBoolean,
  readDurationMs,
  readInteger,
  readWord,
  refuseUnknown,
  show,
} from '../base/options.js'
import type { FairQueueCore } from '../queue/fairQueue.js'
import { queueOptionNames, type FairQueueOptions } from '../queue/options.js'
import type { Message } from './answer.js'
import type { GateOptions, HttpOptions } from './options.js'
import { policyPrinters, type PolicyPrinter, type RateLimitDraft } from './rateLimitFields.js'
import { refusalCodes, type RefusalTerms, type StatusOverride } from './refusal.js'
import type { RetryAfterTerms } from './retryAfter.js'
import { sseFormats, type SseFormat, type SseFormatName } from './sseFormat.js'

/** The options with every default filled in and every duration in milliseconds. */
export interface ResolvedHttpOptions<Request> extends RefusalTerms {
  /** The queue that was given; null: one is to be made from `queueOptions`. */
  readonly queue: FairQueueCore | ((request: Request) => FairQueueCore) | null
  readonly queueOptions: FairQueueOptions
  readonly keyGenerator: HttpOptions<Request>['keyGenerator']
  readonly skip: HttpOptions<Request>['skip']
  readonly permits: number | ((request: Request) => unknown)
  /** undefined: the queue's own. */
  readonly maxWaitMs: number | ((request: Request) => unknown) | undefined
  readonly statusDelayMs: number
  readonly heartbeatMs: number
  readonly upload: boolean
  readonly sse: 'auto' | 'always' | 'never'
  readonly sseFormat: SseFormat
  readonly resumeGraceMs: number
  readonly ticketParameter: string | null
  readonly respondAsync: 'auto' | 'always' | 'never'
  readonly claimMs: number
  readonly abortGraceMs: number
  readonly sendGraceMs: number
  readonly message: HttpOptions<Request>['message']
  readonly onRejected: HttpOptions<Request>['onRejected']
  readonly printPolicy: PolicyPrinter | null
  readonly logger: Logger | undefined
}

const known: Readonly<Record<keyof HttpOptions<unknown>, true>> = {
  queue: true,
  keyGenerator: true,
  skip: true,
  permits: true,
  maxWaitMs: true,
  statusDelayMs: true,
  heartbeatMs: true,
  upload: true,
  sse: true,
  sseFormat: true,
  resumeGraceMs: true,
  ticketParameter: true,
  respondAsync: true,
  claimMs: true,
  abortGraceMs: true,
  sendGraceMs: true,
  statusCode: true,
  message: true,
  handler: true,
  onRejected: true,
  standardHeaders: true,
  retryAfter: true,
  logger: true,
}

const httpOptionNames: ReadonlySet<string> = new Set(Object.keys(known))
const allNames: ReadonlySet<string> = new Set([...httpOptionNames, ...queueOptionNames])

/** Names that only the queue reads: without effect, and so refused, where the queue is given. */
export const queueOnlyNames: readonly string[] = [...queueOptionNames].filter((name) => !httpOptionNames.has(name))

/**
 * Checks the options and fills in the defaults. Those of the queue are checked by the queue that is made from them.
 * @throws OptionError naming the option and what it got
 */
export function resolveHttpOptions<Request>(options: GateOptions<Request>): ResolvedHttpOptions<Request> {
  if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
  refuseUnknown(options, allNames)
  const { queue, logger } = options
  if (queue !== undefined) checkQueue(queue, options)
  else checkKeys(options)
  if (logger !== undefined && typeof logger?.warn !== 'function')
    throw optionError('logger', 'an object with a function "warn"', logger)
  for (const name of ['keyGenerator', 'skip', 'handler', 'onRejected'] as const) checkFunction(name, options[name])
  const upload = readBoolean('upload', withDefault(options.upload, false))
  const duration = (name: keyof HttpOptions<Request>, fallback: number, min = 0): number =>
    readDurationMs(name, withDefault(options[name], fallback), { min })
  return {
    queue: queue ?? null,
    queueOptions: queueOptionsOf(options),
    keyGenerator: options.keyGenerator,
    skip: options.skip,
    permits:
      typeof options.permits === 'function'
        ? options.permits
        : readInteger('permits', withDefault(options.permits, 1), { min: 1 }),
    maxWaitMs: maxWaitOf(options),
    statusDelayMs: duration('statusDelayMs', 250),
    heartbeatMs: duration('heartbeatMs', 15_000, 1),
    upload,
    sse: readWord('sse', withDefault(options.sse, 'auto'), ['auto', 'always', 'never']),
    sseFormat: sseFormats[readWord('sseFormat', withDefault(options.sseFormat, 'universal'), formatNames)],
    resumeGraceMs: duration('resumeGraceMs', 10_000),
    ticketParameter: readParameter(options.ticketParameter),
    respondAsync: readWord('respondAsync', withDefault(options.respondAsync, 'auto'), ['auto', 'always', 'never']),
    claimMs: duration('claimMs', 10_000, 1),
    abortGraceMs: duration('abortGraceMs', 5000),
    sendGraceMs: duration('sendGraceMs', 10_000),
    statusCode: readStatusOverride(withDefault(options.statusCode, upload ? 429 : undefined)),
    message: readMessage(options.message),
    onRejected: options.onRejected,
    printPolicy: readPrinter(withDefault(options.standardHeaders, 'draft-8')),
    retryAfter: readRetryAfter(withDefault(options.retryAfter, {})),
    logger,
  }
}

const formatNames = Object.keys(sseFormats) as SseFormatName[]

/** Only a missing value gets the default: `null` is a value, and refused. */
function withDefault(value: unknown, fallback: unknown): unknown {
  return value === undefined ? fallback : value
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw optionError(name, 'a function', value)
}

function checkQueue(queue: unknown, options: object): void {
  if (typeof queue !== 'function' && !isQueue(queue))
    throw optionError('queue', 'a FairQueue, or a function that chooses one', queue)
  for (const name of queueOnlyNames) {
    if ((options as Record<string, unknown>)[name] === undefined) continue
    throw new OptionError(
      name,
      `Option ${show(name)} belongs to the queue, and "queue" brings one along: set it there.`,
    )
  }
}

/** Caps that no request ever meets would be a mistake that nobody notices. */
function checkKeys({ perKey, keyGenerator }: GateOptions<never>): void {
  if (perKey !== undefined && keyGenerator === undefined)
    throw new OptionError('perKey', 'Option "perKey" needs "keyGenerator": without it no request has a key.')
}

/** By what it can do, not by its class: two copies of this package may be loaded. */
export function isQueue(value: unknown): value is FairQueueCore {
  return typeof value === 'object' && value !== null && typeof (value as Partial<FairQueueCore>).enter === 'function'
}

function queueOptionsOf(options: object): FairQueueOptions {
  const entries = Object.entries(options).filter(
    // A function of the request is the gate's, where it may be one.
    ([name, value]) => queueOptionNames.has(name) && !(typeof value === 'function' && httpOptionNames.has(name)),
  )
  return Object.fromEntries(entries) as unknown as FairQueueOptions
}

/** A plain value is the limit of the queue that is made here; beside a given queue it is this route's own. */
function maxWaitOf<Request>({ queue, maxWaitMs }: GateOptions<Request>): ResolvedHttpOptions<Request>['maxWaitMs'] {
  if (typeof maxWaitMs === 'function' || maxWaitMs === undefined || queue === undefined)
    return typeof maxWaitMs === 'function' ? maxWaitMs : undefined
  return readDurationMs('maxWaitMs', maxWaitMs)
}

function readStatusOverride(value: unknown): StatusOverride {
  const read = (name: string, status: unknown): number => {
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
    throw optionError(name, 'an HTTP status from 400 to 599', status)
  }
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return read('statusCode', value)
  refuseUnknown(value, new Set(refusalCodes))
  return Object.fromEntries(Object.entries(value).map(([code, status]) => [code, read(`statusCode.${code}`, status)]))
}

function readMessage<Request>(value: HttpOptions<Request>['message']): HttpOptions<Request>['message'] {
  if (value === undefined || typeof value === 'string' || typeof value === 'function') return value
  if (typeof value === 'object' && value !== null) return value satisfies Message
  throw optionError('message', 'a text, an object or a function', value)
}

function readParameter(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'string' && value !== '') return value
  throw optionError('ticketParameter', 'the name of a query parameter', value)
}

function readPrinter(value: unknown): PolicyPrinter | null {
  if (value === false) return null
  if (typeof value === 'string' && Object.hasOwn(policyPrinters, value)) return policyPrinters[value as RateLimitDraft]
  throw optionError('standardHeaders', "'draft-8', 'draft-7', 'draft-6' or false", value)
}

function readRetryAfter(value: unknown): RetryAfterTerms {
  if (typeof value !== 'object' || value === null)
    throw optionError('retryAfter', 'an object with "maxMs" and "jitter"', value)
  refuseUnknown(value, new Set(['maxMs', 'jitter']))
  const { maxMs = 3_600_000, jitter = 0 } = value as { readonly maxMs?: unknown; readonly jitter?: unknown }
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1))
    throw optionError('retryAfter.jitter', 'a number from 0 to 1', jitter)
  return { maxMs: readDurationMs('retryAfter.maxMs', maxMs, { min: 1000 }), jitter }
}
