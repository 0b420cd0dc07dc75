import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { systemClock, type Clock } from '../base/clock.js'
import { drainThen } from './drain.js'
import type { Settings } from '../store/settings.js'
import { problemOf } from './problem.js'
import type { PolicyPrinter } from './rateLimitFields.js'
import { isOverLimit, policyNameOf, type Refusal } from './refusal.js'

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
  /** The limits that a request meets. */
  readonly settings: Pick<Settings, 'concurrency' | 'perKey'>
  readonly printPolicy: PolicyPrinter | null
  /** See {@link Answer.drain}. */
  readonly drain: boolean
  /** Whether the protocol has the header `Connection` (HTTP/2 has not). */
  readonly connectionHeader: boolean
}

/** The answer to a refused request. */
export function refusalAnswer(refusal: Refusal, message: Message | undefined, terms: AnswerTerms): Answer {
  const { code, status, retryAfter } = refusal
  const { settings, printPolicy, drain, connectionHeader } = terms
  const [contentType, body] = render(refusal, message)
  const set: [string, string][] = [
    ['Content-Type', contentType],
    ['Cache-Control', 'no-store'],
  ]
  if (retryAfter !== null) set.push(['Retry-After', String(retryAfter)])
  if (connectionHeader && (drain || code === 'FQ_DRAINING')) set.push(['Connection', 'close'])
  const { concurrency, perKey } = settings
  const quota = code === 'FQ_KEY_LIMIT' ? Math.min(perKey.concurrency, concurrency) : concurrency
  const told = printPolicy !== null && isOverLimit(code) && Number.isFinite(quota) && retryAfter !== null
  const policy = told ? printPolicy({ name: policyNameOf(refusal), quota, resetS: retryAfter }) : undefined
  return { status, set: [...set, ...(policy?.set ?? [])], append: policy?.append ?? [], body, drain }
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
const EXPOSED = [
  ...['Location', 'Preference-Applied'],
  ...['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
]

/**
 * The headers of an answer, over those that layers before us have set: these survive, and lists of theirs are added to. `earlier` reads
 * what a response already has of a name.
 */
export function answerHeaders(
  { status, set, append, body }: Answer,
  earlier: (name: string) => OutgoingHttpHeader | undefined,
): Record<string, string> {
  const headers: Record<string, string> = Object.fromEntries(set)
  for (const [name, value] of append) headers[name] = join(headers[name] ?? earlier(name), value)
  if (earlier('Access-Control-Allow-Origin') !== undefined) {
    const ours = EXPOSED.filter((name) => headers[name] !== undefined || earlier(name) !== undefined)
    if (ours.length > 0) {
      const name = 'Access-Control-Expose-Headers'
      headers[name] = join(earlier(name), ours.join(', '))
    }
  }
  if (status !== 204) headers['Content-Length'] = String(Buffer.byteLength(body))
  return headers
}

/**
 * The body of an answer for a framework that sends texts and streams: a stream where the client is still sending, which gives all of the
 * answer at once and ends when the rest of the request has been read within bounds.
 */
export function answerBody(req: IncomingMessage, answer: Answer, clock: Clock = systemClock): string | Readable {
  return answer.drain ? Readable.from(bodyThenDrain(req, answer.body, clock)) : answer.body
}

async function* bodyThenDrain(req: IncomingMessage, body: string, clock: Clock): AsyncGenerator<string> {
  yield body
  await new Promise<void>((resolve) => drainThen(req, clock, resolve))
}

/** Sends an answer through Node's own response. */
export function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  answer: Answer,
  clock: Clock = systemClock,
): void {
  res.statusCode = answer.status
  const headers = answerHeaders(answer, (name) => res.getHeader(name))
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (!answer.drain) {
    res.end(answer.body)
    return
  }
  res.write(answer.body)
  drainThen(req, clock, () => res.end())
}

/** One more member of a list that may be there already. */
function join(list: OutgoingHttpHeader | undefined, member: string): string {
  return list === undefined ? member : [list, member].flat().join(', ')
}
