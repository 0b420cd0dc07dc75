import { Chain } from '../base/chain.js'
import type { Clock } from '../base/clock.js'
import { DrainingError, isFairQueueError, OptionError, type FairQueueError } from '../base/errors.js'
import { Events } from '../base/events.js'
import type { WarningCode } from '../base/logger.js'
import { optionError, readDurationMs, readInteger, refuseUnknown, show } from '../base/options.js'
import type { Duration } from '../base/duration.js'
import type { Instance, InstanceListener, Store, StoreStatus } from '../store/contract.js'
import type { KeyCaps } from '../store/keyCaps.js'
import { readChange, type Settings, type SettingsRecord } from '../store/settings.js'
import { Estimate } from './estimate.js'
import type { QueueEvents, TicketEvent } from './events.js'
import { Lease } from './lease.js'
import { LeaseExpiry } from './leaseExpiry.js'
import { resolveQueueOptions, type FairQueueOptions, type ResolvedQueueOptions } from './options.js'
import { PositionWatch } from './positionWatch.js'
import type { QueueStatus } from './status.js'
import { Ticket, type KeepTerms, type TicketRequest, type TicketStatus } from './ticket.js'
import type { TicketHost } from './ticketHost.js'

/** What one caller asks for. */
export interface EnterOptions {
  /** Whose ticket it is (user, tenant, API key). Default: nobody's. */
  readonly key?: string | undefined
  /** How many units of `concurrency` it occupies while it runs. A whole number ≥ 1. Default 1. */
  readonly permits?: number | undefined
  /** How long it may wait; 0: try once. Default: the queue's `maxWaitMs`; an operator's `maxWaitMs` caps it. */
  readonly maxWaitMs?: Duration | undefined
  /** Gives the wait up when it aborts. Without effect after the grant. */
  readonly signal?: AbortSignal | undefined
  /** Told of every change of position, estimate and state while it waits. */
  readonly onStatus?: ((status: TicketStatus) => void) | undefined
}

const enterOptionNames: ReadonlySet<string> = new Set<keyof EnterOptions>([
  'key',
  'permits',
  'maxWaitMs',
  'signal',
  'onStatus',
])

/** Who takes a place up again. */
export interface ResumeOptions extends Omit<EnterOptions, 'permits'> {
  /** Only look: where it stands is told, and it stays kept, on these terms from now on. Default: its turn is waited for, or taken. */
  readonly kept?: KeepTerms | undefined
}

const resumeOptionNames: ReadonlySet<string> = new Set<keyof ResumeOptions>([
  'key',
  'maxWaitMs',
  'signal',
  'onStatus',
  'kept',
])

/** Options of {@link FairQueueCore.close}. */
export interface CloseOptions {
  /** How long running work may take to finish before its leases are taken away. Default 10 s. 0: at once. */
  readonly graceMs?: Duration
}

/** Options of {@link FairQueueCore.configure}. */
export interface ConfigureOptions {
  /** Change only if this is the version in force (see `status().settings.version`); else `ConflictError`. */
  readonly ifVersion?: number
  /** Who makes the change, for those who read it later. */
  readonly by?: string
}

/** What {@link FairQueueCore.configure} takes: durations may be text. */
export type SettingsInput = {
  readonly [Name in keyof Settings]?: (Name extends 'perKey' ? Partial<KeyCaps> : Settings[Name] | Duration) | null
}

/** A fair waiting line in front of a limit on concurrent work. One object is one instance of the queue. */
export class FairQueueCore {
  readonly name: string
  readonly #options: ResolvedQueueOptions
  readonly #events = new Events<QueueEvents>((error) => this.#trouble('FQ_LISTENER_THREW', 'A listener threw', error))
  readonly #estimate = new Estimate()
  /** This instance's waiting tickets in the order in which they entered. */
  readonly #waiting = new Chain<Ticket>()
  readonly #running = new Chain<Ticket>()
  readonly #positions: PositionWatch
  readonly #leaseExpiry: LeaseExpiry
  readonly #instance: Instance
  readonly #host: TicketHost<Ticket>
  #settings: SettingsRecord
  #degraded = false
  #localLimit: number | null = null
  #wakeChannelOpen = true
  #conflictTold = false
  /** What `report` has warned of. */
  readonly #reported = new Set<string>()
  #closing: Promise<void> | undefined
  #onIdle: (() => void) | undefined

  /** `fallbackStore` is used when the options name no store. @throws OptionError */
  constructor(options: FairQueueOptions, fallbackStore?: Store) {
    const resolved = resolveQueueOptions(options, fallbackStore)
    this.#options = resolved
    this.name = resolved.name
    const { declared, clock, storeTimeoutMs } = resolved
    this.#settings = { values: declared, operator: {}, version: 0, by: null }
    this.#positions = new PositionWatch(clock, resolved.statusIntervalMs, this.#waiting, (sample) => this.#look(sample))
    this.#leaseExpiry = new LeaseExpiry(clock, this.#running)
    this.#instance = resolved.store.join({
      name: resolved.name,
      declared,
      livenessMs: resolved.livenessMs,
      pollIntervalMs: resolved.pollIntervalMs,
      bootGraceMs: resolved.bootGraceMs,
      storeTimeoutMs,
      goesOnAlone: resolved.onStoreError === 'local',
      clock,
      listener: this.#listener(),
    })
    this.#host = this.#makeHost(clock)
  }

  /** The settings in force, as far as this instance knows. */
  get settings(): Settings {
    return this.#settings.values
  }

  /** Whether `close()` was called. */
  get closing(): boolean {
    return this.#closing !== undefined
  }

  /** The options that this instance was made with, defaults filled in. */
  get options(): Readonly<ResolvedQueueOptions> {
    return this.#options
  }

  /**
   * Takes a place and gives it into the caller's hands. Never throws for what the queue decides: `ticket.granted` tells.
   * @throws OptionError when an option is not what it must be
   */
  enter(options: EnterOptions = {}): Ticket {
    if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
    refuseUnknown(options, enterOptionNames)
    const permits = options.permits === undefined ? 1 : readInteger('permits', options.permits, { min: 1 })
    return this.#open(options, { permits }, (ticket) => this.#instance.enter(ticket))
  }

  /**
   * Takes up again the place that is called so (`ticket.id`), wherever it is: its client was cut off, perhaps from another process, or it was kept.
   * The ticket that had it ends (`moved`). The key must be the same. What it waits is counted from its arrival.
   * Never throws for what the queue decides: a place that is not there is refused with a `PlaceLostError`.
   * @throws OptionError when an option is not what it must be
   */
  resume(id: string, options: ResumeOptions = {}): Ticket {
    if (typeof id !== 'string') throw optionError('id', "a ticket's id", id)
    if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
    refuseUnknown(options, resumeOptionNames)
    const kept = options.kept && readKeepTerms(options.kept)
    const ticket = this.#open(options, { permits: 1, resumes: id, kept }, (place) =>
      this.#instance.resume(id, place, kept === undefined),
    )
    if (kept !== undefined) ticket.keep(kept)
    return ticket
  }

  #open(
    options: EnterOptions,
    request: Pick<TicketRequest, 'permits' | 'resumes' | 'kept'>,
    ask: (ticket: Ticket) => void,
  ): Ticket {
    const { signal, onStatus, maxWaitMs, key = null } = options
    if (key !== null && typeof key !== 'string') throw optionError('key', 'a text', key)
    if (signal !== undefined && typeof signal?.addEventListener !== 'function')
      throw optionError('signal', 'an AbortSignal', signal)
    if (onStatus !== undefined && typeof onStatus !== 'function') throw optionError('onStatus', 'a function', onStatus)
    const ticket = new Ticket(this.#host, { ...request, key, maxWaitMs: this.#maxWaitMs(maxWaitMs), signal })
    this.#waiting.add(ticket)
    if (onStatus !== undefined) ticket.on('status', onStatus)
    if (signal?.aborted === true) {
      ticket.cancel(signal.reason)
    } else if (this.#closing !== undefined) {
      ticket.rejectAtDoor(new DrainingError(`Queue ${this.#host.quotedName} is closing.`, { retryAfterMs: 1000 }))
    } else if (!this.#settings.values.enabled) {
      ticket.passUncounted()
    } else {
      ask(ticket)
    }
    return ticket
  }

  /**
   * Waits for the right to run.
   * @throws QueueFullError WaitTimeoutError StoreUnavailableError DrainingError PermitsError CancelledError OptionError (all as rejections)
   */
  async acquire(options?: EnterOptions): Promise<Lease> {
    const ticket = this.enter(options)
    const { outcome } = ticket
    return outcome instanceof Lease ? outcome : await ticket.granted
  }

  /**
   * Waits, runs `work`, releases whatever happens, and returns what `work` returned, also if the lease was lost on the way. The release goes
   * to the store at once, but the result does not wait for its answer.
   */
  async run<Result>(work: (lease: Lease) => Result | PromiseLike<Result>, options?: EnterOptions): Promise<Result> {
    const lease = await this.acquire(options)
    try {
      return await work(lease)
    } finally {
      void lease.release()
    }
  }

  /** The queue at this moment, over all processes. With `degraded: true` the store could not be asked and its counts are null. */
  async status(): Promise<QueueStatus> {
    const seen = await this.#look([]).catch((error: unknown) => {
      if (isFairQueueError(error)) return null
      throw error
    })
    const { values, version, operator, by } = seen?.settings ?? this.#settings
    return {
      name: this.name,
      store: this.#options.store.kind,
      ...values,
      running: seen?.running ?? null,
      waiting: seen?.waiting ?? null,
      free: seen === null ? null : Math.max(0, values.concurrency - seen.running),
      instances: seen?.instances ?? null,
      grants: seen?.grants ?? null,
      grantsPerSecond: this.#estimate.rate === null ? null : this.#estimate.rate * 1000,
      local: { running: this.#running.size, waiting: this.#waiting.size, limit: this.#localLimit },
      degraded: seen === null || this.#degraded,
      wakeChannel: this.#wakeChannelOpen ? 'open' : 'down',
      closing: this.closing,
      version,
      operator,
      by,
    }
  }

  /**
   * Changes settings for all instances at once, and wakes whom that lets in. A value of `null` clears the operator's value. `perKey` is one
   * value: what is left out of it is no cap.
   * @throws OptionError ConflictError StoreUnavailableError (as rejections)
   */
  async configure(values: SettingsInput, options: ConfigureOptions = {}): Promise<SettingsRecord> {
    refuseUnknown(options, new Set<keyof ConfigureOptions>(['ifVersion', 'by']))
    const { ifVersion, by = null } = options
    if (by !== null && (typeof by !== 'string' || by.length > 200))
      throw optionError('by', 'a text of at most 200 characters', by)
    return await this.#instance.configure({
      values: readChange(values),
      ifVersion: ifVersion === undefined ? null : readInteger('ifVersion', ifVersion),
      by,
    })
  }

  on<Name extends keyof QueueEvents>(name: Name, listener: (payload: QueueEvents[Name]) => void): this {
    this.#events.on(name, listener)
    return this
  }

  off<Name extends keyof QueueEvents>(name: Name, listener: (payload: QueueEvents[Name]) => void): this {
    this.#events.off(name, listener)
    return this
  }

  /**
   * Closes this instance: newcomers and waiters get a `DrainingError`, running work may finish within the grace, what still runs then
   * loses its lease. Afterwards no timer or socket of this queue is left. Idempotent; never rejects.
   */
  close(options: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(readDurationMs('graceMs', options.graceMs === undefined ? 10_000 : options.graceMs))
    return this.#closing
  }

  /**
   * @internal Something around this queue went wrong that need not be the request's fault, e.g. a function in the options gave nonsense:
   * tells it as `error`; where nobody listens, one warning per option.
   */
  report(error: unknown): void {
    const about = error instanceof OptionError ? error.option : ''
    if (this.#reported.has(about) && !this.#events.heard('error')) return
    this.#reported.add(about)
    this.#trouble('FQ_TROUBLE', 'Something went wrong', error)
  }

  async #close(graceMs: number): Promise<void> {
    // The property that `closing` reads is set only when this function first waits.
    await Promise.resolve()
    for (const ticket of this.#waiting) {
      ticket.endWait(
        'cancelled',
        new DrainingError(`Queue ${this.#host.quotedName} is closing.`, { retryAfterMs: 1000 }),
      )
    }
    if (this.#running.size > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.#options.clock.setTimer(resolve, graceMs, 'foreground')
        this.#onIdle = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    for (const ticket of this.#running) ticket.expire('closed')
    this.#positions.stop()
    this.#leaseExpiry.stop()
    await this.#instance.leave(this.#options.storeTimeoutMs)
  }

  /** An operator's value caps what code and callers ask for. */
  #maxWaitMs(asked: Duration | undefined): number {
    const { values, operator } = this.#settings
    if (asked === undefined) return values.maxWaitMs
    return Math.min(readDurationMs('maxWaitMs', asked), operator.maxWaitMs ?? Infinity)
  }

  async #look(sample: readonly Ticket[]): Promise<StoreStatus> {
    const seen = await this.#instance.status(sample)
    this.#estimate.note(seen.atMs, seen.grants)
    return seen
  }

  #listener(): InstanceListener {
    return {
      settingsChanged: (record) => {
        this.#settings = record
        if (!record.values.enabled) for (const ticket of this.#waiting) ticket.passBy()
        this.#events.emit('settingsChanged', record)
      },
      configConflict: (declared, inForce) => {
        if (this.#conflictTold) return
        this.#conflictTold = true
        if (this.#events.heard('configConflict')) this.#events.emit('configConflict', { declared, inForce })
        else
          this.#warn(
            'FQ_CONFIG_CONFLICT',
            `Instances of queue ${show(this.name)} declare different settings; the one that started last counts.`,
          )
      },
      healthChanged: (healthy, cause) => {
        this.#degraded = !healthy
        this.#events.emit('degraded', { degraded: !healthy, cause })
        if (!healthy) this.#warn('FQ_STORE_DOWN', `The store of queue ${show(this.name)} does not answer.`, cause)
      },
      aloneChanged: (limit) => {
        this.#localLimit = limit
        this.#events.emit('local', { limit })
      },
      wakeChannelChanged: (open, cause) => {
        this.#wakeChannelOpen = open
        this.#events.emit('wakeChannel', { open, cause })
        if (!open)
          this.#warn(
            'FQ_WAKE_CHANNEL_DOWN',
            `Queue ${show(this.name)} gets no hints and works by polling alone.`,
            cause,
          )
      },
      troubled: (error) => this.#trouble('FQ_TROUBLE', 'Something went wrong', error),
    }
  }

  #makeHost(clock: Clock): TicketHost<Ticket> {
    return {
      clock,
      instance: this.#instance,
      quotedName: show(this.name),
      onStoreError: this.#options.onStoreError,
      etaMs: (position) => this.#estimate.etaMs(position),
      watch: (ticket) => this.#positions.watch(ticket),
      waitEnded: (ticket, outcome) => this.#waitEnded(ticket, outcome),
      released: (ticket, lease) => {
        if (this.#events.heard('released'))
          this.#events.emit('released', { ...describe(ticket), heldMs: lease.heldMs(clock.now()) })
        this.#ranOut(ticket)
      },
      leaseLost: (ticket, lease, error) => {
        if (this.#events.heard('leaseLost'))
          this.#events.emit('leaseLost', { ...describe(ticket), error, heldMs: lease.heldMs(clock.now()) })
        this.#ranOut(ticket)
      },
      guarded: (listener, payload) => {
        try {
          listener(payload)
        } catch (error) {
          this.#trouble('FQ_LISTENER_THREW', 'A listener threw', error)
        }
      },
    }
  }

  #waitEnded(ticket: Ticket, outcome: Lease | FairQueueError): void {
    this.#waiting.remove(ticket)
    this.#positions.unwatch(ticket)
    if (outcome instanceof Lease) {
      this.#running.add(ticket)
      this.#leaseExpiry.watch(ticket.leaseEndsAtMs)
      if (this.#events.heard('granted')) this.#events.emit('granted', describe(ticket))
      return
    }
    // It goes on, as another ticket, which tells of its end.
    if (ticket.state === 'moved') return
    const event = ticket.state as 'rejected' | 'timedOut' | 'cancelled' | 'failed'
    if (this.#events.heard(event)) this.#events.emit(event, { ...describe(ticket), error: outcome })
  }

  #ranOut(ticket: Ticket): void {
    this.#running.remove(ticket)
    if (this.#running.size === 0) this.#onIdle?.()
  }

  #trouble(code: WarningCode, what: string, error: unknown): void {
    if (this.#events.heard('error')) this.#events.emit('error', error)
    else
      this.#warn(
        code,
        `${what} in queue ${show(this.name)}: ${error instanceof Error ? error.message : show(error)}`,
        error,
      )
  }

  #warn(code: WarningCode, message: string, cause?: unknown): void {
    try {
      this.#options.logger.warn(message, { code, cause })
    } catch {
      // A logger that throws has nowhere left to be reported to.
    }
  }
}

function readKeepTerms({ graceMs, claimMs }: KeepTerms): KeepTerms {
  return {
    graceMs: readDurationMs('kept.graceMs', graceMs, { min: 1 }),
    claimMs: readDurationMs('kept.claimMs', claimMs, { min: 1 }),
  }
}

function describe(ticket: Ticket): TicketEvent {
  return { ticket, key: ticket.key, permits: ticket.permits, waitedMs: ticket.waitedMs }
}
