import { EventSourceParserStream } from 'eventsource-parser/stream'
import { fetchInTurn } from '@fairqueue/client'
import { Reader, versioned, type Client } from './client.js'

/** The application that reads events out of a `fetch`. */
async function read(response: Response, show: (text: string) => void): Promise<string> {
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status })
  const reader = new Reader(show)
  const events = response
    .body!.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream({ onComment: show }))
  for await (const { event, data } of events as ReadableStream<{ event?: string; data: string }> &
    AsyncIterable<{ event?: string; data: string }>) {
    const answer = reader.take(event, data)
    if (answer !== undefined) return answer
  }
  throw new Error('The stream ended before the answer did.')
}

export const fetchClients: readonly Client[] = [
  {
    name: `fetch with ${versioned('eventsource-parser')}`,
    ask: async (url, show) => read(await fetch(`${url}/events`, { headers: { accept: 'text/event-stream' } }), show),
  },
  {
    name: '@fairqueue/client fetchInTurn',
    ask: async (url, show) =>
      read(await fetchInTurn(`${url}/events`, { retry: false, onQueue: (news) => show(JSON.stringify(news)) }), show),
  },
]
