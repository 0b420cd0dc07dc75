import type { LateAnswer } from './queueEvent.js'

/** Gives an answer that came as an event a head again. An error's event brings no headers along, so they are made from the rest. */
export function responseOf(answer: LateAnswer): Response {
  const { status, headers, retryAfter, location, body, encoding, truncated } = answer
  if (truncated) throw new TypeError('The answer was too long to come after the wait had been told of.')
  const response = new Response(contentOf(body, encoding), { status })
  const lines = {
    'content-type': typeof body === 'object' && body !== null ? 'application/json' : undefined,
    'retry-after': retryAfter,
    location,
    ...headers,
  }
  for (const [name, value] of Object.entries(lines)) {
    if (value !== undefined) response.headers.set(name, String(value))
  }
  return response
}

function contentOf(body: unknown, encoding: string | undefined): BodyInit | null {
  if (body === undefined || body === null) return null
  if (typeof body !== 'string') return JSON.stringify(body)
  return encoding === undefined ? body : Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
}
