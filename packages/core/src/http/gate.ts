import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemClock, type Clock } from '../base/clock.js'
import { OptionError, type FairQueueError } from '../base/errors.js'
import { readDurationMs, readInteger, show } from '../base/options.js'
import type { CloseOptions, FairQueueCore } from '../queue/fairQueue.js'
import type { FairQueueOptions } from '../queue/options.js'
import type { Outcome, Ticket } from '../queue/ticket.js'
import { asksForEventStream } from './accept.js'
import { Admission, type SlotTerms } from './admission.js'
import { refusalAnswer, stopAnswer, type AnswerTerms, type Message } from './answer.js'
import { readComeback, type Comeback } from './comeback.js'
import { isLongUpload } from './drain.js'
import { Findings } from './findings.js'
import { lastPlaceOf, notePlace, placeIn, queuesOf, SharedPlace, type HeldPlace } from './heldPlaces.js'
import { identify, PASS, type Identity } from './identity.js'
import type { GateOptions } from './options.js'
import { isGranted } from './outcome.js'
import { acceptedAnswer, placeAnswer, type AsyncTerms } from './placeAnswer.js'
import { prefersAsync } from './prefer.js'
import { isPreflight } from './preflight.js'
import { isOver } from './presence.js'
import { describeRefusal, type Refusal } from './refusal.js'
import { isQueue, resolveHttpOptions, type ResolvedHttpOptions } from './resolvedOptions.js'
import { SendWatch } from './sendWatch.js'
import { mayLoseBody } from './unreadBody.js'
import { Wait, type WaitMode, type WaitTerms } from './wait.js'
import type { Visit } from './visit.js'

const BODY_TAKEN =
  'With "upload" a request must come with its body unread, or read to its end, and something before has begun to read it: while the request waits, parts of the body could get lost. Mount the queue before whatever reads.'

/** A kept place has to be looked at, however soon others give theirs up. */
const SHORTEST_KEEP_MS = 3000

/**
 * Stands in front of a route: takes a place for each request, lets it wait, tells it, lets it in or refuses it, and frees the place when
 * the work is done. Knows no framework; an adapter presents each request as a {@link Visit}.
 */
export class Gate<Request> {
  /** The one queue of this gate; null where a function chooses. */
  readonly queue: FairQueueCore | null
  readonly #options: ResolvedHttpOptions<Request>
  readonly #chooseQueue: (request: Request) => FairQueueCore
  readonly #ownsQueue: boolean
  readonly #clock: Clock
  readonly #findings: Findings
  readonly #slotTerms: SlotTerms
  /** How one waits in each queue. */
  readonly #terms = new WeakMap<FairQueueCore, WaitTerms>()

  /** `makeQueue` makes the queue where the options bring none. @throws OptionError naming the option and what it got */
  constructor(options: GateOptions<Request>, makeQueue: (options: FairQueueOptions) => FairQueueCore) {
    const resolved = resolveHttpOptions(options)
    const { queue } = resolved
    this.#options = resolved
    this.#ownsQueue = queue === null
    this.queue = queue === null ? makeQueue(resolved.queueOptions) : typeof queue === 'function' ? null : queue
    const fixed = this.queue
    this.#chooseQueue = typeof queue === 'function' ? queue : () => fixed!
    this.#clock = fixed?.options.clock ?? systemClock
    this.#findings = new Findings(resolved.logger, fixed)
    const { abortGraceMs, sendGraceMs } = resolved
    this.#slotTerms = { clock: this.#clock, abortGraceMs, sending: new SendWatch(this.#clock, sendGraceMs) }
  }

  /** Deals with one request. What comes of it is told through the visit, perhaps before this call returns. */
  handle(visit: Visit<Request>): void {
    const { req } = visit
    const comeback = readComeback(req, this.#options.ticketParameter)
    if (comeback === 'ended') {
      visit.answer(stopAnswer)
      return
    }
    let identity: Identity | Promise<Identity>
    try {
      identity = isPreflight(req) ? PASS : identify(visit.request, this.#options, this.#clock)
    } catch (error) {
      fail(visit, error)
      return
    }
    if (identity instanceof Promise) {
      identity
        .then(
          (known) => this.#enter(visit, known, comeback),
          (error: unknown) => fail(visit, error),
        )
        .catch((error: unknown) => this.#findings.behindThrew(error))
    } else {
      this.#enter(visit, identity, comeback)
    }
  }

  /** Closes the queue if this gate made it: newcomers and waiters are refused, running ones may finish. Never rejects. */
  async close(options?: CloseOptions): Promise<void> {
    if (this.#ownsQueue) await this.queue!.close(options)
  }

  #enter(visit: Visit<Request>, identity: Identity, comeback: Comeback | undefined): void {
    if (isOver(visit.req, visit.res)) {
      visit.leave()
      return
    }
    if (identity.pass) {
      visit.proceed(new Admission(visit, this.#slotTerms, null, null, null))
      return
    }
    if (this.#options.upload && mayLoseBody(visit.req)) {
      visit.fail(new OptionError('upload', BODY_TAKEN))
      return
    }
    let queue: FairQueueCore
    let ticket: Ticket | undefined
    let held: HeldPlace | undefined
    try {
      queue = this.#queueFor(visit.request)
      held = placeIn(queue, lastPlaceOf(visit.req))
      if (held === undefined) ticket = this.#takePlace(queue, visit.request, identity.key, comeback)
    } catch (error) {
      fail(visit, error)
      return
    }
    if (held !== undefined) {
      this.#findings.secondWay(queue)
      visit.proceed(new SharedPlace(held))
    } else if (comeback?.looks === true) {
      ticket!.whenPlaced(() => this.#tellPlace(visit, queue, ticket!))
    } else if (ticket!.outcome === undefined) {
      this.#wait(visit, queue, ticket!, comeback)
    } else {
      this.#settle(visit, queue, ticket!, ticket!.outcome, false, comeback)
    }
  }

  #wait(visit: Visit<Request>, queue: FairQueueCore, ticket: Ticket, comeback: Comeback | undefined): void {
    const wait = new Wait(visit, ticket, this.#waitTerms(queue), (outcome, streamed) => {
      if (outcome === 'accepted') {
        const terms = this.#asyncTerms(queue)
        ticket.keep(terms)
        visit.answer(acceptedAnswer(visit.req, ticket, terms))
        return
      }
      if (outcome !== null && isGranted(outcome) && !streamed) showWait(visit.res, outcome.waitedMs)
      this.#settle(visit, queue, ticket, outcome, streamed, comeback)
    })
    if (mayLoseBody(visit.req)) this.#findings.bodyFlows(queue)
    wait.begin(this.#modeOf(visit.req), comeback !== undefined)
  }

  /** To who has only asked. */
  #tellPlace(visit: Visit<Request>, queue: FairQueueCore, ticket: Ticket): void {
    const { outcome } = ticket
    if (outcome === undefined) visit.answer(placeAnswer(ticket, this.#asyncTerms(queue)))
    else if (!isGranted(outcome)) this.#refuse(visit, queue, ticket, outcome, false)
    else {
      // The queue is switched off: the request may be sent as if there were none.
      void outcome.release()
      visit.answer(placeAnswer(ticket, this.#asyncTerms(queue)))
    }
  }

  #asyncTerms(queue: FairQueueCore): AsyncTerms {
    const { resumeGraceMs, claimMs } = this.#options
    return { graceMs: Math.max(resumeGraceMs, SHORTEST_KEEP_MS), claimMs, livenessMs: queue.options.livenessMs }
  }

  #queueFor(request: Request): FairQueueCore {
    const queue = this.#chooseQueue(request)
    if (isQueue(queue)) return queue
    throw new OptionError('queue', `The function "queue" must return a FairQueue, got ${show(queue)}.`)
  }

  #takePlace(queue: FairQueueCore, request: Request, key: string | undefined, comeback: Comeback | undefined): Ticket {
    if (comeback !== undefined) {
      const { id, looks } = comeback
      const maxWaitMs = this.#maxWaitOf(queue, request)
      return queue.resume(id, looks ? { key, maxWaitMs, kept: this.#asyncTerms(queue) } : { key, maxWaitMs })
    }
    const { permits } = this.#options
    return queue.enter({
      key,
      permits:
        typeof permits === 'function'
          ? this.#ask(queue, () => readInteger('permits', permits(request), { min: 1 }))
          : permits,
      maxWaitMs: this.#maxWaitOf(queue, request),
    })
  }

  #maxWaitOf(queue: FairQueueCore, request: Request): number | undefined {
    const { maxWaitMs } = this.#options
    return typeof maxWaitMs === 'function'
      ? this.#ask(queue, () => readDurationMs('maxWaitMs', maxWaitMs(request)))
      : maxWaitMs
  }

  /** A function's nonsense, or its throwing, does not cost the request its place: the default counts, and the queue's `error` tells. */
  #ask<Value>(queue: FairQueueCore, read: () => Value): Value | undefined {
    try {
      return read()
    } catch (error) {
      queue.report(error)
      return undefined
    }
  }

  #settle(
    visit: Visit<Request>,
    queue: FairQueueCore,
    ticket: Ticket,
    outcome: Outcome | null,
    streamed: boolean,
    comeback: Comeback | undefined,
  ): void {
    if (outcome === null) visit.leave()
    else if (isGranted(outcome)) {
      const admission = new Admission(visit, this.#slotTerms, queue, ticket, outcome)
      notePlace(visit.req, admission)
      visit.proceed(admission)
    } else if (comeback?.reconnects === true && outcome.code === 'FQ_PLACE_LOST' && !streamed) visit.answer(stopAnswer)
    else this.#refuse(visit, queue, ticket, outcome, streamed)
  }

  #refuse(visit: Visit<Request>, queue: FairQueueCore, ticket: Ticket, error: FairQueueError, streamed: boolean): void {
    const { req, request } = visit
    const { onRejected, printPolicy } = this.#options
    if (error.code === 'FQ_WAIT_TIMEOUT') this.#findings.heldWhileWaiting(queue, queuesOf(lastPlaceOf(req)))
    const refusal = describeRefusal(error, queue, ticket, this.#options)
    // A place that was taken up again by another request goes on there.
    if (onRejected !== undefined && ticket.state !== 'moved') this.#ask(queue, () => onRejected(request, refusal))
    const connectionHeader = req.httpVersionMajor === 1
    const terms: AnswerTerms = {
      settings: queue.settings,
      printPolicy,
      connectionHeader,
      drain: connectionHeader && !streamed && isLongUpload(req),
    }
    const answer = this.#ask(queue, () => refusalAnswer(refusal, this.#messageFor(request, refusal), terms))
    visit.refuse(refusal, answer ?? refusalAnswer(refusal, undefined, terms))
  }

  #messageFor(request: Request, refusal: Refusal): Message | undefined {
    const { message } = this.#options
    return typeof message === 'function' ? message(request, refusal) : message
  }

  #modeOf({ method, headers }: IncomingMessage): WaitMode {
    const { sse, respondAsync } = this.#options
    const asksForEvents = sse !== 'never' && asksForEventStream(headers.accept)
    if (respondAsync === 'always' ? !asksForEvents : respondAsync === 'auto' && prefersAsync(headers['prefer']))
      return 'accepted'
    return method !== 'HEAD' && (sse === 'always' || asksForEvents) ? 'stream' : 'silent'
  }

  #waitTerms(queue: FairQueueCore): WaitTerms {
    const known = this.#terms.get(queue)
    if (known !== undefined) return known
    const { sseFormat, statusDelayMs, resumeGraceMs, heartbeatMs } = this.#options
    const terms: WaitTerms = {
      statusDelayMs,
      resumeGraceMs,
      heartbeatMs,
      format: sseFormat,
      statusIntervalMs: queue.options.statusIntervalMs,
      clock: this.#clock,
      troubled: (error) => queue.report(error),
      headersLost: (names) => this.#findings.lostHeaders(names),
    }
    this.#terms.set(queue, terms)
    return terms
  }
}

/** For whoever looks at the time that a request took (W3C Server Timing). */
function showWait(res: ServerResponse, waitedMs: number): void {
  const ms = Math.round(waitedMs)
  if (ms > 0 && !res.headersSent) res.appendHeader('Server-Timing', `fairqueue;dur=${ms}`)
}

/** For a framework no error means to go on, past the queue. */
function fail<Request>(visit: Visit<Request>, error: unknown): void {
  visit.fail(error ?? new Error('A function among the options of fairQueue threw nothing.'))
}
