import type { TicketStatus } from '../queue/ticket.js'

/** What a waiting client is told in one event. */
export interface QueueNews extends Pick<TicketStatus, 'position' | 'etaMs'> {
  readonly state: 'waiting' | 'admitted'
  readonly ticket: string
}

/** How the wait is written into a stream of server-sent events. */
export interface SseFormat {
  /** One event. `eventId`: text of its `id` line; empty resets the reader's last id, null says nothing about it. */
  news(news: QueueNews, eventId: string | null): string
  /** Keeps proxies and watchdogs calm between two events. */
  readonly heartbeat: string
}

/**
 * Members that make the event look like an empty chunk to the clients of the common LLM interfaces: they ignore the event's name and
 * validate every `data:` line. The AI SDK takes the type `data-queue` for a transient part, OpenAI-compatible clients pass over a delta
 * without content.
 */
const EMPTY_CHUNK = {
  object: 'chat.completion.chunk',
  created: 0,
  model: 'queue',
  choices: [{ index: 0, delta: {}, finish_reason: null }],
} as const

/** One event that nearly every client can digest; the news are in `JSON.parse(event.data).data`. */
export const universal: SseFormat = {
  news: ({ state, position, etaMs, ticket }, eventId) => {
    const data = {
      type: 'data-queue',
      id: 'queue',
      transient: true,
      data: { state, position, etaMs, ticket },
      ...EMPTY_CHUNK,
    }
    const id = eventId === null ? '' : eventId === '' ? 'id:\n' : `id: ${eventId}\n`
    return `${id}event: queue\ndata: ${JSON.stringify(data)}\n\n`
  },
  // One line end only: some readers take a comment with a blank line for an empty event.
  heartbeat: ':\n',
}
