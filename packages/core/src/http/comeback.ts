import type { IncomingMessage } from 'node:http'
import { END, takeTicketId } from './lastEventId.js'

/** A request with the id of a place that it had before. */
export interface Comeback {
  readonly id: string
  /** Reconnects by itself, and stops when it is told to (`EventSource`). */
  readonly reconnects: boolean
  /** Only asks where the place stands. */
  readonly looks: boolean
}

/** Carries the id of a place that is to be taken up again. */
const TICKET_HEADER = 'fairqueue-ticket'

/** The query parameter of the address at which one can look at a place. */
const LOOK_PARAMETER = 'fairqueue-place'

/**
 * What a request says of a place that it had before; undefined for newcomers, `ended` for an `EventSource` whose stream had come to its end.
 * `parameter`: a query parameter that may name the place, too.
 */
export function readComeback(req: IncomingMessage, parameter: string | null): Comeback | 'ended' | undefined {
  const { url = '' } = req
  // Nearly all requests are newcomers: for them this is all.
  const hasQuery = url.includes('?')
  const looked = hasQuery && url.includes(LOOK_PARAMETER) ? queryOf(url).get(LOOK_PARAMETER) : null
  if (looked !== null) return { id: looked, reconnects: false, looks: true }
  const reconnects = req.method === 'GET'
  const lastEvent = takeTicketId(req)
  if (lastEvent === END) return reconnects ? 'ended' : undefined
  if (lastEvent !== undefined) return { id: lastEvent, reconnects, looks: false }
  const id = req.headers[TICKET_HEADER] ?? (hasQuery && parameter !== null ? queryOf(url).get(parameter) : null)
  return typeof id === 'string' && id !== '' ? { id, reconnects: false, looks: false } : undefined
}

/** Where to look at a place: the address of the request itself (a reference that consists of a query keeps the path), plus a parameter. */
export function lookReference({ url = '' }: IncomingMessage, id: string): string {
  const query = url.includes('?') ? queryOf(url) : new URLSearchParams()
  query.set(LOOK_PARAMETER, id)
  return `?${query.toString()}`
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.slice(url.indexOf('?') + 1))
}
