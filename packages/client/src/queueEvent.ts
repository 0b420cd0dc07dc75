import { createParser } from 'eventsource-parser'

/** What the queue says in one block of its stream. */
export type QueueEvent = Place | LateAnswer

/** Where the request stands, and the ticket that proves it. */
export interface Place {
  readonly state: 'waiting' | 'admitted'
  readonly position: number | null
  readonly etaMs: number | null
  readonly ticket?: string
}

/** An answer that came too late for a head of its own, as a stream's last event. */
export interface LateAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>
  /** Of an error, in seconds. */
  readonly retryAfter?: number
  readonly location?: string
  /** JSON, or text, or with an `encoding` anything. */
  readonly body?: unknown
  readonly encoding?: 'base64'
  /** The end of the body is missing. */
  readonly truncated?: boolean
}

/** Reads one block. Undefined: it is not the queue's. */
export function readQueueEvent(block: string): QueueEvent | undefined {
  let json = ''
  const parser = createParser({
    onEvent: ({ data }) => void (json = data),
    onComment: (comment) => void (json = comment.replace('queue ', '')),
  })
  parser.feed(block)
  try {
    const said = JSON.parse(json) as { data?: QueueEvent } & QueueEvent
    // In the form for LLM clients the news are one level down.
    const event = said.data ?? said
    if ('status' in event || /^(waiting|admitted)$/.test(event.state)) return event
  } catch {
    // Somebody else's words.
  }
  return undefined
}
