import type { Clock, Timer } from '../base/clock.js'
import type { Ticket, TicketStatus } from '../queue/ticket.js'
import { ticketEventId } from './lastEventId.js'
import { needsDrain } from './presence.js'
import type { QueueNews, SseFormat } from './sseFormat.js'
import { VirtualHead } from './virtualHead.js'
import type { Visit } from './visit.js'

/** A reader that takes nothing for so many heartbeats is not there any more. */
const STALLED_HEARTBEATS = 3

/** How the wait is told. Durations in milliseconds. */
export interface StreamTerms {
  readonly format: SseFormat
  readonly heartbeatMs: number
  /** The least time between two events. */
  readonly statusIntervalMs: number
  readonly clock: Clock
  /** Told of what layers around the response threw while it was written to. */
  troubled(error: unknown): void
  /** Told of headers that a handler set after the early head had gone. */
  headersLost(names: readonly string[]): void
}

/**
 * Tells a waiting client where it stands: sends the early head, then one event per change, never faster than every `statusIntervalMs` (the
 * latest wins) and never into a connection whose reader does not keep up.
 */
export class StatusStream {
  readonly #visit: Visit<unknown>
  readonly #ticket: Ticket
  readonly #terms: StreamTerms
  readonly #head: VirtualHead
  /** Only a GET can come back with the last id (`EventSource`). */
  readonly #withIds: boolean
  readonly #onStatus = (status: TicketStatus): void => this.#changed(status)
  #latest: TicketStatus
  #interval: Timer | undefined
  #heartbeat: Timer
  #missedHeartbeats = 0
  #fresh = true

  /** `takenOver` is called when somebody else answers while the ticket waits (a layer with a time-out, say). */
  constructor(visit: Visit<unknown>, ticket: Ticket, terms: StreamTerms, takenOver: () => void) {
    this.#visit = visit
    this.#ticket = ticket
    this.#terms = terms
    this.#withIds = visit.req.method === 'GET'
    this.#head = new VirtualHead(visit.req, visit.res, visit.earlierHeaders?.() ?? {}, {
      committed: takenOver,
      headersLost: (names) => terms.headersLost(names),
    })
    this.#latest = { state: ticket.state, position: ticket.position, etaMs: ticket.etaMs }
    this.#heartbeat = this.#nextHeartbeat()
    ticket.on('status', this.#onStatus)
    this.#tell()
  }

  /** The turn has come. From now on the response is the handler's, and nothing is written here any more. */
  admit(): void {
    this.stop()
    this.#write({ state: 'admitted', position: 0, etaMs: 0, ticket: this.#ticket.id }, '')
  }

  /** Stops telling; the stream stays open for whoever answers. */
  stop(): void {
    this.#ticket.off('status', this.#onStatus)
    this.#interval?.cancel()
    this.#heartbeat.cancel()
  }

  #changed(status: TicketStatus): void {
    if (status.state !== 'waiting') return
    this.#latest = status
    this.#fresh = true
    if (this.#interval === undefined) this.#tell()
  }

  /** Tells the latest, if there is something new and the reader keeps up; and not again before an interval is over. */
  #tell(): void {
    this.#interval = undefined
    if (!this.#fresh) return
    if (!needsDrain(this.#visit.res)) {
      this.#fresh = false
      const { position, etaMs } = this.#latest
      const ticket = this.#ticket.id
      this.#write({ state: 'waiting', position, etaMs, ticket }, ticket === null ? null : ticketEventId(ticket))
    }
    this.#interval = this.#terms.clock.setTimer(() => this.#tell(), this.#terms.statusIntervalMs, 'background')
  }

  #write(news: QueueNews, eventId: string | null): void {
    this.#writeText(this.#terms.format.news(news, this.#withIds ? eventId : null))
  }

  /** Never throws: whoever has wrapped the response may, and a ticket, let alone a granted one, must not hang on that. */
  #writeText(text: string): void {
    try {
      this.#head.writeOurs(text)
    } catch (error) {
      this.#terms.troubled(error)
      this.#visit.res.destroy()
    }
  }

  #nextHeartbeat(): Timer {
    return this.#terms.clock.setTimer(() => this.#beat(), this.#terms.heartbeatMs, 'background')
  }

  #beat(): void {
    if (needsDrain(this.#visit.res)) {
      this.#missedHeartbeats += 1
      if (this.#missedHeartbeats >= STALLED_HEARTBEATS) {
        this.#visit.res.destroy()
        return
      }
    } else {
      this.#missedHeartbeats = 0
      this.#writeText(this.#terms.format.heartbeat)
    }
    this.#heartbeat = this.#nextHeartbeat()
  }
}
