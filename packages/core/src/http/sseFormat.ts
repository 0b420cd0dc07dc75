import type { TicketStatus } from '../queue/ticket.js'

/** What a waiting client is told in one event. */
export interface QueueNews extends Pick<TicketStatus, 'position' | 'etaMs'> {
  readonly state: 'waiting' | 'admitted'
  /** By which the place can be taken up again; null while there is none. */
  readonly ticket: string | null
}

/** The forms that there are. */
export type SseFormatName = 'universal' | 'plain' | 'comment'

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

/** One line end only: some readers take a comment with a blank line for an empty event. */
const COMMENT_LINE = ':\n'

/** One event that nearly every client can digest; the news are in `JSON.parse(event.data).data`. */
export const universal: SseFormat = {
  news: (news, eventId) =>
    queueEvent(eventId, { type: 'data-queue', id: 'queue', transient: true, data: shown(news), ...EMPTY_CHUNK }),
  heartbeat: COMMENT_LINE,
}

/** For routes that only readers such as `EventSource` call, which go by an event's name; the news are `JSON.parse(event.data)`. */
export const plain: SseFormat = {
  news: (news, eventId) => queueEvent(eventId, shown(news)),
  heartbeat: COMMENT_LINE,
}

/**
 * For clients that refuse every event they do not know: no parser makes an event of a comment. Ids are left out, since after one the
 * blank line of a comment becomes an empty event for some.
 */
export const comment: SseFormat = {
  news: (news) => `: queue ${JSON.stringify(shown(news))}\n\n`,
  heartbeat: ':\n\n',
}

/** What the option `sseFormat` chooses among. */
export const sseFormats: Readonly<Record<SseFormatName, SseFormat>> = { universal, plain, comment }

function queueEvent(eventId: string | null, data: object): string {
  const id = eventId === null ? '' : eventId === '' ? 'id:\n' : `id: ${eventId}\n`
  return `${id}event: queue\ndata: ${JSON.stringify(data)}\n\n`
}

/** Always the same members in the same order. */
function shown({ state, position, etaMs, ticket }: QueueNews): object {
  return { state, position, etaMs, ...(ticket !== null && { ticket }) }
}
