import { CancelledError } from '../base/errors.js'
import type { Clock, Timer } from '../base/clock.js'
import type { FairQueueCore } from '../queue/fairQueue.js'
import type { Lease } from '../queue/lease.js'
import type { Ticket } from '../queue/ticket.js'
import { isClosed, wasSent } from './presence.js'
import type { HeldPlace } from './heldPlaces.js'
import type { SendWatch, Sending, WatchNote } from './sendWatch.js'
import type { Visit } from './visit.js'

/** How long a place outlives what it was for. Durations in milliseconds. */
export interface SlotTerms {
  readonly clock: Clock
  /** How long a handler may work on after its client has gone, where its end cannot be seen. */
  readonly abortGraceMs: number
  readonly sending: SendWatch
}

/** A request that has been let through, and its place: held until the response has ended and the handler is done. */
export class Admission implements HeldPlace, Sending {
  readonly queue: FairQueueCore | null
  earlier: HeldPlace | undefined = undefined
  readonly watchNote: WatchNote = { index: -1, endedAtMs: undefined }
  readonly #visit: Visit<unknown>
  readonly #terms: SlotTerms
  readonly #ticket: Ticket | null
  readonly #held: Lease | null
  #abort: AbortController | undefined
  #listening = false
  #responseOver = false
  #handlerOver = false
  #grace: Timer | undefined

  /** Without `held` the request passes the gate without a place. */
  constructor(
    visit: Visit<unknown>,
    terms: SlotTerms,
    queue: FairQueueCore | null,
    ticket: Ticket | null,
    held: Lease | null,
  ) {
    this.queue = queue
    this.#visit = visit
    this.#terms = terms
    this.#ticket = ticket
    this.#held = held
    if (held !== null) {
      this.#listen()
      terms.sending.watch(this)
    }
  }

  get ticket(): string | null {
    return this.lease === null ? null : this.#ticket!.id
  }

  get waitedMs(): number {
    return this.#held?.waitedMs ?? 0
  }

  get lease(): Lease | null {
    return this.#held?.counted === true ? this.#held : null
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      this.#abort = abort
      this.#listen()
      if (isClosed(this.#visit.res)) this.#abortIfGone()
      const lost = this.#held?.signal
      if (lost?.aborted === true) abort.abort(lost.reason)
      else lost?.addEventListener('abort', () => abort.abort(lost.reason), { once: true })
    }
    return this.#abort.signal
  }

  /** The adapter saw the handler's end. Idempotent. */
  handlerDone(): void {
    this.#handlerOver = true
    this.#releaseWhenOver()
  }

  /** Whether the handler has ended the response, though its client may not have read it all. */
  get responseEnded(): boolean {
    return this.#visit.res.writableEnded
  }

  /** Nothing more is to be waited for on the response's side. Idempotent. */
  responseDone(): void {
    this.#responseOver = true
    this.#terms.sending.forget(this)
    this.#grace?.cancel()
    this.#releaseWhenOver()
  }

  #releaseWhenOver(): void {
    if (this.#responseOver && (this.#handlerOver || !this.#visit.tellsHandlerEnd)) void this.#held?.release()
  }

  #listen(): void {
    if (this.#listening) return
    this.#listening = true
    this.#visit.res.on('close', () => this.#closed())
  }

  #closed(): void {
    this.#abortIfGone()
    if (this.#held === null || this.#responseOver) return
    // Where the handler's end is known, or the response was its end, the connection was all that was left.
    if (this.#visit.tellsHandlerEnd || this.responseEnded) this.responseDone()
    else this.#awaitHandler()
  }

  #abortIfGone(): void {
    if (!wasSent(this.#visit.res)) this.#abort?.abort(new CancelledError('The client has gone.'))
  }

  /** The client is gone, the handler may still work: its own `res.end()` tells when it has finished, or the grace is over. */
  #awaitHandler(): void {
    const { res } = this.#visit
    const end = res.end.bind(res)
    res.end = ((...args: Parameters<typeof end>) => {
      this.responseDone()
      return end(...args)
    }) as typeof end
    this.#grace = this.#terms.clock.setTimer(() => this.responseDone(), this.#terms.abortGraceMs, 'background')
  }
}
