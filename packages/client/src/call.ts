import { askForEvents } from './accept.js'

/** Carries the ticket of a place that is to be taken up again. */
const TICKET_HEADER = 'Fairqueue-Ticket'

/** One request that may have to be sent more than once. */
export interface Call {
  readonly signal: AbortSignal | null | undefined
  /** Whether it can be sent again: a body that is a stream is gone once it has been read. */
  readonly repeatable: boolean
  /** Sends it, with a ticket if it has a place already. */
  send(this: void, ticket: string | undefined): Promise<Response>
}

/** Prepares what `fetch` takes for being sent by such a function. */
export function prepareCall(input: string | URL | Request, init: RequestInit, fetch: typeof globalThis.fetch): Call {
  const request = input instanceof Request ? input : undefined
  const headers = new Headers(init.headers ?? request?.headers)
  askForEvents(headers)
  return {
    // null takes a request's own signal away.
    signal: init.signal === undefined ? request?.signal : init.signal,
    repeatable: !isStream(init.body),
    send(ticket) {
      if (ticket === undefined) headers.delete(TICKET_HEADER)
      else headers.set(TICKET_HEADER, ticket)
      return fetch(request?.clone() ?? input, { ...init, headers })
    },
  }
}

/** Streams of the web, and in Node whatever can be iterated. */
function isStream(body: unknown): boolean {
  return body instanceof ReadableStream || Symbol.asyncIterator in Object(body)
}
