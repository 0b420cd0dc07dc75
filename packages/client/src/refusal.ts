import { retryAfterMs } from './retryAfter.js'

/** The server sent the request away: the line is full, the wait was too long, a limit was hit. Nothing of the handler's work was done. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** The HTTP status. */
  declare readonly status: number
  /** Why, e.g. `FQ_QUEUE_FULL` or `FQ_WAIT_TIMEOUT`; null if somebody else refused who gives no code. */
  declare readonly code: string | null
  /** The type of the problem document (RFC 9457); null without one. */
  declare readonly type: string | null
  /** When to come back; null where trying again cannot help, or nobody said. */
  declare readonly retryAfterMs: number | null
  /** The answer's body: what the JSON said, or text. */
  declare readonly body: unknown

  constructor({ status, headers }: Response, body: unknown) {
    const { detail, title, message, code, type, retryAfter } = Object(body) as Record<string, unknown>
    const said = [detail, message, title, body].find((text): text is string => typeof text === 'string' && text !== '')
    super(said?.slice(0, 300) ?? `Refused with status ${status}`)
    this.status = status
    this.code = textOrNull(code)
    this.type = textOrNull(type)
    // A script of another origin may not see the header; the body says the same.
    this.retryAfterMs = retryAfterMs(headers) ?? (typeof retryAfter === 'number' ? retryAfter * 1000 : null)
    this.body = body
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/**
 * Reads what a response refuses; null: it refuses nothing. A refusal is what is known to be the queue's, and every 429 and 503: these too say
 * that nothing was done and that one may come back. The response stays readable.
 */
export async function readRefusal(response: Response, known: boolean): Promise<RefusedError | null> {
  const { status, headers } = response
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json')
  if (!known && status !== 429 && status !== 503 && (response.ok || !isProblem)) return null
  const text = await response.clone().text()
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // Then it is text.
  }
  const refusal = new RefusedError(response, body)
  return known || status === 429 || status === 503 || refusal.code?.startsWith('FQ_') ? refusal : null
}
