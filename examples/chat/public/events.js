import { EventSourceParserStream } from './eventsource-parser/dist/stream.js'

/**
 * One event of a stream. `refused` is ours: an ordinary response with a bad status, before any stream began.
 * @typedef {{ event: string, data: string }} ServerEvent
 */

/**
 * Posts JSON and reads the answer as server-sent events. It takes `fetch` for that: an `EventSource` can only GET.
 * @param {string} url
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* postForEvents(url, body, signal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
  if (!response.ok || response.body === null) {
    yield { event: 'refused', data: await response.text() }
    return
  }
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = events.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const { event = 'message', data } = read.value
    yield { event, data }
  }
}
