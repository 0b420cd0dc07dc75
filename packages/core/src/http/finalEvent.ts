import { STATUS_CODES, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http'
import { errorMember } from './errorMember.js'
import { END_ID } from './lastEventId.js'

/** An answer that came too late for a head of its own. */
export interface LateAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  /** Whether a part of the body is missing, because it was too long. */
  readonly truncated: boolean
}

/** Longest text of a body that serves as the message of an error. */
const LONGEST_MESSAGE = 300

/** Headers that say nothing to a script, or that a script must not see. */
const HIDDEN_HEADERS = new Set([
  'set-cookie',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'date',
  'etag',
])

/** Writes an answer as the last event of a stream that has begun with another head: `error` from status 300 on, else `response`. */
export function finalEvent(answer: LateAnswer): string {
  const { status, headers, truncated } = answer
  const content = readBody(answer)
  if (status >= 300) {
    const { location } = headers
    const retryAfter = secondsOf(headers['retry-after'])
    return event('error', {
      ...errorData(status, messageOf(status, content), content),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(location !== undefined && { location }),
    })
  }
  const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => !HIDDEN_HEADERS.has(name)))
  return event('response', { status, headers: shown, ...content, ...(truncated && { truncated }) })
}

/** The id makes an `EventSource`, which comes back after every end, end up with a 204. */
function event(name: string, data: object): string {
  return `id: ${END_ID}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

/** One form that the AI SDK (`errorText`), OpenAI's and Anthropic's clients (`error.message`) and plain readers all understand. */
function errorData(status: number, message: string, content: Content): object {
  return {
    type: 'error',
    errorText: message,
    status,
    error: errorMember(status, status, message),
    ...content,
  }
}

/** The seconds of a `Retry-After`; one that is a date counts from now (RFC 9110, 10.2.3). Undefined: there is none that makes sense. */
function secondsOf(retryAfter: OutgoingHttpHeader | undefined): number | undefined {
  const text = String(retryAfter)
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const untilMs = /^[A-Z][a-z]+,? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil((untilMs - Date.now()) / 1000))
}

/** A body in JSON. `encoding` is there for what is no text. */
interface Content {
  readonly body: unknown
  readonly encoding?: 'base64'
}

function readBody({ headers, body, truncated }: LateAnswer): Content {
  if (body.length === 0) return { body: null }
  const type = String(headers['content-type'] ?? 'text/plain').toLowerCase()
  const encoded = (headers['content-encoding'] ?? 'identity') !== 'identity'
  if (encoded || !/^text\/|json|xml|javascript|urlencoded/.test(type))
    return { body: body.toString('base64'), encoding: 'base64' }
  const text = body.toString('utf8')
  if (truncated || !/[/+]json\b/.test(type)) return { body: text }
  try {
    return { body: JSON.parse(text) as unknown }
  } catch {
    return { body: text }
  }
}

/** What a person is told: a sentence out of the body where there is one, else what the status means. */
function messageOf(status: number, { body, encoding }: Content): string {
  const meaning = STATUS_CODES[status] ?? `Status ${status}`
  if (typeof body === 'string')
    return encoding === undefined && body.length <= LONGEST_MESSAGE && !body.includes('<') ? body : meaning
  if (typeof body !== 'object' || body === null) return meaning
  const { detail, message, error, title } = body as Record<string, unknown>
  const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)['message'] : error
  const found = [detail, message, inner, title].find((text) => typeof text === 'string' && text !== '')
  return typeof found === 'string' ? found.slice(0, LONGEST_MESSAGE) : meaning
}
