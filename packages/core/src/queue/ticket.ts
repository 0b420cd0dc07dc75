import type { Link } from '../base/chain.js'
import type { Timer } from '../base/clock.js'
import {
  CancelledError,
  KeyLimitError,
  PermitsError,
  PlaceLostError,
  QueueFullError,
  StoreUnavailableError,
  WaitTimeoutError,
  type FairQueueError,
  type LeaseLostCause,
} from '../base/errors.js'
import type { FoundPlace, Grant, Place, RefusalReason } from '../store/contract.js'
import { mayMove, type TicketState } from '../ticket/states.js'
import { Lease, type LeaseOwner } from './lease.js'
import type { Expiring } from './leaseExpiry.js'
import type { TicketHost } from './ticketHost.js'

/** What a waiting client is told. `position` 1 is the next, 0 has been granted; `etaMs` is ≥ 0, or null when unknown. */
export interface TicketStatus {
  readonly state: TicketState
  readonly position: number | null
  readonly etaMs: number | null
}

/** How a ticket ended its wait: with a lease, or with the reason why there is none. */
export type Outcome = Lease | FairQueueError

/** What a ticket is made from; see {@link EnterOptions}. */
export interface TicketRequest {
  readonly key: string | null
  readonly permits: number
  readonly maxWaitMs: number
  readonly signal: AbortSignal | undefined
  /** The id of the place that it takes up again; undefined for a newcomer. */
  readonly resumes?: string | undefined
  /** It only looks at that place, which stays kept. */
  readonly kept?: KeepTerms | undefined
}

/** For how long a place that nobody waits for is kept, in milliseconds. */
export interface KeepTerms {
  /** How long until somebody has to look at it again; then it is given up. */
  readonly graceMs: number
  /** How long it is held once its turn has come; then it goes to the next. */
  readonly claimMs: number
}

/** One request's place in a queue, from the door to its end. Made by `queue.enter()`. */
export class Ticket implements Place, LeaseOwner, Expiring, Link<Ticket> {
  readonly key: string | null
  /** @internal The store's. */
  slot: unknown = undefined
  /** @internal Its neighbours among the waiting, then among the running tickets of its queue. */
  previous: Ticket | undefined
  /** @internal */
  next: Ticket | undefined
  readonly #host: TicketHost<Ticket>
  #permits: number
  #enteredAtMs: number
  readonly #maxWaitMs: number
  readonly #signal: AbortSignal | undefined
  #onAbort: (() => void) | undefined
  #state: TicketState = 'waiting'
  #id: string | undefined
  #position: number | null = null
  #etaMs: number | null = null
  #outcome: Outcome | undefined
  #settledListeners: ((outcome: Outcome) => void)[] | undefined
  #statusListeners: Set<(status: TicketStatus) => void> | undefined
  #granted: Promise<Lease> | undefined
  #waitTimer: Timer | undefined
  #leaseEndsAtMs = Infinity
  /** Nobody waits for it: for how long it is held when its turn comes, in milliseconds; null: its turn passes it by. */
  #absence: { readonly claimMs: number | null } | undefined
  #absenceTimer: Timer | undefined
  #placedListener: (() => void) | undefined

  /** @internal Tickets are made by a queue. */
  constructor(host: TicketHost<Ticket>, request: TicketRequest) {
    this.#host = host
    this.key = request.key
    this.#permits = request.permits
    this.#id = request.resumes
    this.#absence = request.kept
    this.#maxWaitMs = request.maxWaitMs
    this.#enteredAtMs = host.clock.now()
    this.#signal = request.signal
    if (this.#signal !== undefined) {
      this.#onAbort = () => this.cancel(this.#signal?.reason)
      this.#signal.addEventListener('abort', this.#onAbort)
    }
  }

  /** How many units of `concurrency` it occupies while it runs. */
  get permits(): number {
    return this.#permits
  }

  /**
   * Unguessable text by which the place can be taken up again with `queue.resume()`, in any process, by whoever has the same key. null while the
   * store has given it no number, and for what is not counted.
   */
  get id(): string | null {
    this.#id ??= this.#host.instance.nameOf(this) ?? undefined
    return this.#id ?? null
  }

  get state(): TicketState {
    return this.#state
  }

  /** 1 = next, 0 = granted, null = unknown or ended. Reading it asks for it to be kept fresh. It never rises. */
  get position(): number | null {
    if (this.#state === 'waiting') this.#host.watch(this)
    return this.#position
  }

  /** Estimated milliseconds until the grant, ≥ 0; null when unknown. */
  get etaMs(): number | null {
    if (this.#state === 'waiting') this.#host.watch(this)
    return this.#etaMs
  }

  /** @internal */
  get ageMs(): number {
    return this.#host.clock.now() - this.#enteredAtMs
  }

  /** Milliseconds since it entered, or until its wait ended. */
  get waitedMs(): number {
    return this.#outcome instanceof Lease ? this.#outcome.waitedMs : this.ageMs
  }

  /** How the wait ended; undefined while it goes on. */
  get outcome(): Outcome | undefined {
    return this.#outcome
  }

  /** Resolves with the lease, or rejects with the reason. Never becomes an unhandled rejection. */
  get granted(): Promise<Lease> {
    if (this.#granted === undefined) {
      this.#granted = new Promise((resolve, reject) => {
        this.whenSettled((outcome) => {
          if (outcome instanceof Lease) resolve(outcome)
          else reject(outcome)
        })
      })
      this.#granted.catch(() => undefined)
    }
    return this.#granted
  }

  /** Calls back once when the wait has ended, at once if it has already. For callers who cannot afford a promise's tick. */
  whenSettled(listener: (outcome: Outcome) => void): void {
    if (this.#outcome !== undefined) this.#host.guarded(listener, this.#outcome)
    else if (this.#settledListeners === undefined) this.#settledListeners = [listener]
    else this.#settledListeners.push(listener)
  }

  /** Tells every change of position, estimate and state, until the wait has ended. Asks for positions to be kept fresh. */
  on(_event: 'status', listener: (status: TicketStatus) => void): this {
    if (this.#state === 'waiting') {
      this.#statusListeners ??= new Set()
      this.#statusListeners.add(listener)
      this.#host.watch(this)
    }
    return this
  }

  off(_event: 'status', listener: (status: TicketStatus) => void): this {
    this.#statusListeners?.delete(listener)
    return this
  }

  /** Gives the wait up. Without effect once the wait has ended: a granted ticket is ended by its lease. */
  cancel(reason?: unknown): void {
    this.endWait('cancelled', new CancelledError('The wait was given up.', { cause: reason }))
  }

  /**
   * Nobody waits for it any more, but somebody may come back: for `graceMs` it keeps its number, though its turn passes it by. Then it is
   * cancelled. Without effect unless it waits.
   */
  leave(graceMs: number): void {
    if (this.#state !== 'waiting') return
    this.#absence = { claimMs: null }
    this.#host.instance.putAside(this)
    this.#await(graceMs)
  }

  /**
   * Nobody waits for it here, but somebody looks after it: it stays in the line for `graceMs`, and once its turn has come it is held (`reserved`)
   * for `claimMs`. To look at it, or to claim it, is `queue.resume()`. Without effect unless it waits.
   */
  keep({ graceMs, claimMs }: KeepTerms): void {
    if (this.#state !== 'waiting') return
    this.#absence = { claimMs }
    this.#host.instance.keep(this, claimMs)
    this.#await(graceMs)
  }

  #await(graceMs: number): void {
    this.#absenceTimer?.cancel()
    this.#absenceTimer = this.#host.clock.setTimer(
      () => this.cancel(new Error('Nobody has come back for it.')),
      graceMs,
      'background',
    )
  }

  /** Calls back once when it is known where it stands, or that it stands nowhere; at once if it is. */
  whenPlaced(listener: () => void): void {
    if (this.#waitTimer !== undefined || this.#state !== 'waiting') listener()
    else this.#placedListener = listener
  }

  /** @internal Ends a wait from this side, wherever its place is; false if it has ended already. */
  endWait(state: 'timedOut' | 'cancelled' | 'failed', error: FairQueueError): boolean {
    if (!mayMove(this.#state, state)) return false
    // Before the store hands on: whoever that lets in may call back.
    this.#state = state
    void this.#host.instance.giveUp(this)
    this.#endWithout(state, error)
    return true
  }

  /** @internal Runs without a place: nobody counts it. */
  passUncounted(): void {
    this.#settleWith(null)
  }

  /** @internal The queue was switched off while it waited: it leaves the line and runs without a place. */
  passBy(): void {
    if (this.#absence !== undefined) this.cancel(new Error('The queue was switched off.'))
    if (this.#state !== 'waiting') return
    this.#state = 'granted'
    void this.#host.instance.giveUp(this)
    this.passUncounted()
  }

  /** @internal */
  rejectAtDoor(error: FairQueueError): void {
    this.#endWithout('rejected', error)
  }

  // What the store tells (Place).

  /** @internal */
  onQueued(position: number | null): void {
    if (this.#state !== 'waiting') return
    if (this.#waitTimer === undefined) {
      const left = this.#maxWaitMs - this.ageMs
      if (this.#maxWaitMs === 0 || left <= 0) {
        this.#timeOut()
        return
      }
      this.#waitTimer = this.#host.clock.setTimer(() => this.#timeOut(), left, 'foreground')
    }
    this.showPosition(position)
    this.#tellPlaced()
  }

  /** @internal */
  onGranted(grant: Grant): void {
    const { claimMs = null } = this.#absence ?? {}
    if (claimMs === null) this.#settleWith(grant)
    else this.#reserve(grant, claimMs)
  }

  /** @internal */
  onFound({ permits, ageMs }: FoundPlace): void {
    this.#permits = permits
    this.#enteredAtMs = this.#host.clock.now() - ageMs
  }

  /** @internal */
  onTaken(): void {
    if (!mayMove(this.#state, 'moved')) return
    this.#endWithout('moved', new PlaceLostError('The place was taken up again by another request.'))
  }

  /** Its turn has come, and nobody is there. */
  #reserve(grant: Grant, claimMs: number): void {
    const { clock, instance } = this.#host
    this.#state = 'reserved'
    this.#position = 0
    this.#etaMs = 0
    this.#waitTimer?.cancel()
    this.#absenceTimer?.cancel()
    instance.keep(this, claimMs)
    const leftMs = Math.min(claimMs, grant.endsAtMs - clock.now())
    this.#leaseEndsAtMs = clock.now() + leftMs
    this.#absenceTimer = clock.setTimer(() => this.#unclaimed(claimMs), leftMs, 'background')
    this.#tellStatus()
    this.#tellPlaced()
  }

  #unclaimed(claimMs: number): void {
    const { quotedName } = this.#host
    this.endWait(
      'timedOut',
      new WaitTimeoutError(`Nobody claimed the turn in queue ${quotedName} within ${claimMs} ms.`),
    )
  }

  #tellPlaced(): void {
    const listener = this.#placedListener
    this.#placedListener = undefined
    if (listener !== undefined) this.#host.guarded(listener, undefined)
  }

  /** @internal */
  onRefused(reason: RefusalReason, cause?: unknown): void {
    if (reason === 'full') {
      this.rejectAtDoor(
        new QueueFullError(`The line of queue ${this.#host.quotedName} is full.`, {
          retryAfterMs: this.#host.etaMs(1),
        }),
      )
    } else if (reason === 'unknown') {
      this.rejectAtDoor(new PlaceLostError(`Queue ${this.#host.quotedName} has no such place, or its turn was used.`))
    } else if (reason === 'keyFull') {
      // When one of its key leaves, the pace of the queue does not tell.
      this.rejectAtDoor(new KeyLimitError(`Too many with the same key wait in queue ${this.#host.quotedName}.`))
    } else if (reason === 'permits') {
      this.rejectAtDoor(
        new PermitsError(`${this.permits} permits are more than queue ${this.#host.quotedName} can ever give.`, 400),
      )
    } else if (reason === 'limitFell') {
      const error = new PermitsError(
        `The limit of queue ${this.#host.quotedName} fell below the ${this.permits} permits asked for.`,
        503,
      )
      this.#endWithout('failed', error)
    } else if (this.#host.onStoreError === 'open') {
      this.passUncounted()
    } else {
      this.#endWithout(
        'failed',
        new StoreUnavailableError('The store could not decide in time.', { cause, retryAfterMs: 1000 }),
      )
    }
  }

  /** @internal */
  onLost(cause: LeaseLostCause): void {
    if (this.#state === 'reserved') {
      this.#endWithout('timedOut', new WaitTimeoutError(`The turn in queue ${this.#host.quotedName} was lost.`))
      return
    }
    if (!mayMove(this.#state, 'lost')) return
    this.#state = 'lost'
    const lease = this.#outcome as Lease
    const error = lease.lose(cause, this.#host.clock.now())
    this.#host.leaseLost(this, lease, error)
  }

  /** @internal */
  get leaseEndsAtMs(): number {
    return this.#leaseEndsAtMs
  }

  // What its lease tells (LeaseOwner).

  /** @internal */
  releaseLease(): Promise<void> | undefined {
    if (!mayMove(this.#state, 'released')) return undefined
    this.#state = 'released'
    const lease = this.#outcome as Lease
    this.#host.released(this, lease)
    return lease.counted ? this.#host.instance.giveUp(this) : undefined
  }

  /** @internal A fresh look at where it stands; shown positions never rise. */
  showPosition(fresh: number | null): void {
    if (this.#state !== 'waiting') return
    const position = fresh === null ? this.#position : Math.min(fresh, this.#position ?? fresh)
    const etaMs = this.#host.etaMs(position)
    if (position === this.#position && etaMs === this.#etaMs) return
    this.#position = position
    this.#etaMs = etaMs
    this.#tellStatus()
  }

  #settleWith(grant: Grant | null): void {
    const { clock } = this.#host
    const now = clock.now()
    const lease = new Lease(this, this.#permits, grant, now - this.#enteredAtMs, now)
    if (grant !== null) this.#leaseEndsAtMs = grant.endsAtMs
    this.#position = 0
    this.#etaMs = 0
    this.#end('granted', lease)
  }

  #endWithout(state: 'timedOut' | 'cancelled' | 'failed' | 'rejected' | 'moved', error: FairQueueError): void {
    this.#position = null
    this.#etaMs = null
    this.#end(state, error)
  }

  #end(state: TicketState, outcome: Outcome): void {
    this.#state = state
    this.#outcome = outcome
    this.#waitTimer?.cancel()
    this.#absenceTimer?.cancel()
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#tellStatus()
    this.#statusListeners = undefined
    this.#host.waitEnded(this, outcome)
    const listeners = this.#settledListeners
    this.#settledListeners = undefined
    if (listeners !== undefined) for (const listener of listeners) this.#host.guarded(listener, outcome)
    this.#tellPlaced()
  }

  #tellStatus(): void {
    if (this.#statusListeners === undefined) return
    const status: TicketStatus = { state: this.#state, position: this.#position, etaMs: this.#etaMs }
    for (const listener of [...this.#statusListeners]) this.#host.guarded(listener, status)
  }

  #timeOut(): void {
    const { quotedName } = this.#host
    this.endWait(
      'timedOut',
      new WaitTimeoutError(`The turn in queue ${quotedName} did not come within ${this.#maxWaitMs} ms.`, {
        retryAfterMs: this.#etaMs,
      }),
    )
  }

  /** @internal Its lease is taken away: it is told so before its permits go to the next. */
  expire(cause: 'expired' | 'closed' = 'expired'): void {
    this.onLost(cause)
    void this.#host.instance.giveUp(this)
  }
}
