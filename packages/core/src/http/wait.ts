import { AsyncResource } from 'node:async_hooks'
import type { Timer } from '../base/clock.js'
import type { Outcome, Ticket } from '../queue/ticket.js'
import { isGranted } from './outcome.js'
import { isOver } from './presence.js'
import { StatusStream, type StreamTerms } from './statusStream.js'
import type { Visit } from './visit.js'

/** How a request waits. */
export interface WaitTerms extends StreamTerms {
  /** How long the response stays untouched before the first event, in milliseconds. */
  readonly statusDelayMs: number
  /** How long the place of a client that knows its ticket outlives the connection, in milliseconds. */
  readonly resumeGraceMs: number
}

/**
 * The outcome of a wait: the ticket's, `accepted` when it goes on without the connection, or null when nobody is left who waits.
 * `streamed`: the early head has been sent.
 */
export type WaitListener = (outcome: Outcome | 'accepted' | null, streamed: boolean) => void

/** How a client learns of its wait: in a stream of events, by being accepted, or not at all. */
export type WaitMode = 'stream' | 'accepted' | 'silent'

/**
 * One request's wait for its turn, between the response's untouched state and the handler. Gives the ticket up when the client goes or
 * when somebody else answers.
 */
export class Wait {
  readonly #visit: Visit<unknown>
  readonly #ticket: Ticket
  readonly #terms: WaitTerms
  readonly #listener: WaitListener
  readonly #headWasSent: boolean
  /** The turn comes out of another request's end: without this the handler would run in that request's `AsyncLocalStorage`. */
  readonly #context = new AsyncResource('FairQueueWait')
  readonly #onClose = (): void => this.#clientGone()
  #mayComeBack = false
  #delay: Timer | undefined
  #stream: StatusStream | undefined
  #over = false

  constructor(visit: Visit<unknown>, ticket: Ticket, terms: WaitTerms, listener: WaitListener) {
    this.#visit = visit
    this.#ticket = ticket
    this.#terms = terms
    this.#listener = listener
    this.#headWasSent = visit.res.headersSent
  }

  /** `mode`: what happens if the wait lasts. `isBack`: the client knows its ticket, and has waited before. */
  begin(mode: WaitMode, isBack: boolean): void {
    this.#visit.res.on('close', this.#onClose)
    this.#mayComeBack = isBack
    if (mode !== 'silent') {
      const tell = mode === 'stream' ? () => this.#openStream() : () => this.#accept()
      if (isBack) this.#oncePlaced(tell)
      else this.#after(this.#terms.statusDelayMs, tell)
    }
    this.#ticket.whenSettled((outcome) => this.#settled(outcome))
  }

  /** Who comes back is told at once, but not before the store knows of the place: if there is none, the status is to say so. */
  #oncePlaced(then: () => void): void {
    this.#ticket.whenPlaced(() => {
      if (!this.#over) this.#after(0, then)
    })
  }

  #after(delayMs: number, then: () => void): void {
    this.#delay = this.#terms.clock.setTimer(then, delayMs, 'background')
  }

  #accept(): void {
    // Without a number there is nothing yet that could be kept.
    if (this.#ticket.id === null) this.#after(Math.max(100, this.#terms.statusDelayMs), () => this.#accept())
    else this.#end('accepted')
  }

  #openStream(): void {
    const { req, res } = this.#visit
    if (res.headersSent || isOver(req, res)) return
    try {
      this.#stream = new StatusStream(this.#visit, this.#ticket, this.#terms, () =>
        this.#nobodyWaits('Somebody else has answered.'),
      )
      this.#mayComeBack = true
    } catch (error) {
      // The layers around the response threw at its head: how much of that was sent nobody knows.
      this.#terms.troubled(error)
      res.destroy()
    }
  }

  #settled(outcome: Outcome): void {
    if (this.#over) return
    const { req, res } = this.#visit
    if (isOver(req, res) || (this.#stream === undefined && res.headersSent !== this.#headWasSent)) {
      if (isGranted(outcome)) void outcome.release()
      this.#end(null)
    } else {
      if (isGranted(outcome)) this.#stream?.admit()
      this.#end(outcome)
    }
  }

  #clientGone(): void {
    const { resumeGraceMs } = this.#terms
    if (this.#over || !this.#mayComeBack || resumeGraceMs === 0 || this.#ticket.id === null) {
      this.#nobodyWaits('The client has gone.')
      return
    }
    this.#end(null)
    this.#ticket.leave(resumeGraceMs)
  }

  #nobodyWaits(why: string): void {
    if (this.#over) return
    this.#end(null)
    this.#ticket.cancel(new Error(why))
  }

  #end(outcome: Parameters<WaitListener>[0]): void {
    this.#over = true
    this.#delay?.cancel()
    this.#stream?.stop()
    this.#visit.res.off('close', this.#onClose)
    this.#context.runInAsyncScope(this.#listener, undefined, outcome, this.#stream !== undefined)
  }
}
