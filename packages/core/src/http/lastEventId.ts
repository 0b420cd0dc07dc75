import type { IncomingMessage } from 'node:http'

/** Ids of queue events begin with this, so that they can be told from the handler's own. */
const PREFIX = 'q:'

/** Stands where a ticket's id would when a stream has ended for good. */
export const END = 'end'

/** Id of the event that ends a stream for good. An `EventSource` comes back with it, and a 204 makes it stop. */
export const END_ID: string = PREFIX + END

/** The id under which a waiting ticket's events go. */
export function ticketEventId(ticket: string): string {
  return PREFIX + ticket
}

/**
 * Takes a ticket's id out of a request's `Last-Event-ID`: a handler that resumes its own stream must not see ids that are not its own.
 * @returns the ticket's id, `END` where the stream had come to its end, undefined if there was none of ours
 */
export function takeTicketId(req: IncomingMessage): string | undefined {
  const id = req.headers['last-event-id']
  if (typeof id !== 'string' || !id.startsWith(PREFIX)) return undefined
  delete req.headers['last-event-id']
  const raw = req.rawHeaders
  for (let i = raw.length - 2; i >= 0; i -= 2) if (raw[i]!.toLowerCase() === 'last-event-id') raw.splice(i, 2)
  return id.slice(PREFIX.length)
}
