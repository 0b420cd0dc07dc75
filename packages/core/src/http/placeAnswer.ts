import type { IncomingMessage } from 'node:http'
import type { KeepTerms, Ticket } from '../queue/ticket.js'
import type { Answer } from './answer.js'
import { lookReference } from './comeback.js'

/** How often a client may look at the least while its place is kept. */
const LOOKS_PER_GRACE = 3

/** For how long a place of a client without a connection is kept. */
export interface AsyncTerms extends KeepTerms {
  /** How long a process that died keeps its places: who looks more often than that loses nothing by it. */
  readonly livenessMs: number
}

/** `202 Accepted`: the client need not hold the connection, and may look at its place (RFC 9110, 15.3.3). */
export function acceptedAnswer(req: IncomingMessage, ticket: Ticket, terms: AsyncTerms): Answer {
  const answer = placeAnswer(ticket, terms)
  return {
    ...answer,
    status: 202,
    set: [...answer.set, ['Location', lookReference(req, ticket.id!)], ['Preference-Applied', 'respond-async']],
  }
}

/** Where a place stands. `reserved`: its turn has come, and the request, sent again with its ticket, runs at once. */
export function placeAnswer(ticket: Ticket, terms: AsyncTerms): Answer {
  const { id, state, position, etaMs } = ticket
  const set: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['Cache-Control', 'no-store'],
  ]
  if (state === 'waiting') set.push(['Retry-After', String(lookAgainSeconds(etaMs, terms))])
  const claimMs = state === 'reserved' ? { claimMs: terms.claimMs } : {}
  const body = JSON.stringify({ ticket: id, state, position, etaMs, ...claimMs })
  return { status: 200, set, append: [], body, drain: false }
}

/** When the turn may have come, but often enough to keep the place. */
function lookAgainSeconds(etaMs: number | null, { graceMs, livenessMs }: AsyncTerms): number {
  const mostMs = Math.min(graceMs, livenessMs) / LOOKS_PER_GRACE
  return Math.max(1, Math.floor(Math.min(mostMs, Math.max(etaMs ?? Infinity, 1000)) / 1000))
}
