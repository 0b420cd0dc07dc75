import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock, type Clock } from '../base/clock.js'
import { drainThen } from './drain.js'
import { problemOf } from './problem.js'
import type { PolicyPrinter } from './rateLimitFields.js'
import { isOverLimit, type Refusal } from './refusal.js'

/** An answer as plain data, for any framework to send. */
export interface Answer {
  readonly status: number
  /** Header lines that replace earlier ones of their name. */
  readonly set: readonly (readonly [name: string, value: string])[]
  /** Header lines that join earlier ones of their name, as members of a list. */
  readonly append: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** The client is still sending: send all of the answer now, but read on within bounds before the response ends. */
  readonly drain: boolean
}

/** What the option `message` puts in the place of the problem document: a text, or an object that becomes JSON. */
export type Message = string | { readonly [name: string]: unknown }

/** What the answer depends on besides the refusal. */
export interface AnswerTerms {
  /** The limit that the request met. */
  readonly concurrency: number
  readonly printPolicy: PolicyPrinter | null
  /** See {@link Answer.drain}. */
  readonly drain: boolean
  /** Whether the protocol has the header `Connection` (HTTP/2 has not). */
  readonly connectionHeader: boolean
}

/** The answer to a refused request. */
export function refusalAnswer(refusal: Refusal, message: Message | undefined, terms: AnswerTerms): Answer {
  const { code, status, retryAfter, queue } = refusal
  const { concurrency, printPolicy, drain, connectionHeader } = terms
  const [contentType, body] = render(refusal, message)
  const set: [string, string][] = [
    ['Content-Type', contentType],
    ['Cache-Control', 'no-store'],
  ]
  if (retryAfter !== null) set.push(['Retry-After', String(retryAfter)])
  if (connectionHeader && (drain || code === 'FQ_DRAINING')) set.push(['Connection', 'close'])
  const told = printPolicy !== null && isOverLimit(code) && Number.isFinite(concurrency) && retryAfter !== null
  const append = told ? printPolicy({ name: queue, quota: concurrency, resetS: retryAfter }) : []
  return { status, set, append, body, drain }
}

function render(refusal: Refusal, message: Message | undefined): [contentType: string, body: string] {
  if (message === undefined) return ['application/problem+json', JSON.stringify(problemOf(refusal))]
  if (typeof message === 'string') return ['text/plain; charset=utf-8', message]
  return ['application/json; charset=utf-8', JSON.stringify(message)]
}

/** Tells an `EventSource` that came back after its stream had ended for good to stop (HTML Living Standard, 9.2.3). */
export const stopAnswer: Answer = {
  status: 204,
  set: [['Cache-Control', 'no-store']],
  append: [],
  body: '',
  drain: false,
}

/** Headers of ours that a script of another origin may read only if a CORS layer names them. */
const EXPOSED = ['Retry-After', 'RateLimit', 'RateLimit-Policy']

/** Sends an answer through Node's own response. Headers that layers before us have set survive. */
export function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  clock: Clock = systemClock,
): void {
  const { status, set, append, body, drain } = answer
  res.statusCode = status
  for (const [name, value] of set) res.setHeader(name, value)
  for (const [name, value] of append) appendMember(res, name, value)
  if (res.hasHeader('Access-Control-Allow-Origin')) {
    for (const name of EXPOSED) if (res.hasHeader(name)) appendMember(res, 'Access-Control-Expose-Headers', name)
  }
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body))
  if (!drain) {
    res.end(body)
    return
  }
  res.write(body)
  drainThen(req, clock, () => res.end())
}

function appendMember(res: ServerResponse, name: string, value: string): void {
  const earlier = res.getHeader(name)
  const members = earlier === undefined ? [] : Array.isArray(earlier) ? earlier : [String(earlier)]
  res.setHeader(name, [...members, value].join(', '))
}
