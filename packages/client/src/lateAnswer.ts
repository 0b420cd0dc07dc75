import type { LateAnswer } from './queueEvent.js'

/** Gives an answer that came as an event a head again. An error's event brings no headers along, so they are made from its body. */
export function responseOf({ status, headers, location, body, encoding, truncated }: LateAnswer): Response {
  if (truncated) throw new TypeError('The answer was too long to come after the wait had been told of.')
  const content = contentOf(body, encoding)
  const response = new Response(content, { status })
  const add = (name: string, value: string | number | readonly string[] | undefined): void => {
    if (value !== undefined) response.headers.set(name, String(value))
  }
  if (typeof body === 'object' && body !== null) {
    add('content-type', 'application/json')
    add('retry-after', (body as { readonly retryAfter?: number }).retryAfter)
  }
  add('location', location)
  for (const [name, value] of Object.entries(headers ?? {})) add(name, value)
  return response
}

function contentOf(body: unknown, encoding: string | undefined): BodyInit | null {
  if (body === undefined || body === null) return null
  if (typeof body !== 'string') return JSON.stringify(body)
  return encoding === undefined ? body : Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
}
