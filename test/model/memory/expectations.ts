import type { FairQueueError, Settings } from '@fairqueue/core'
import type { FakeClock } from '@fairqueue/core/testing'
import { Broken, type ModelTicket, type Promises } from '../promises.js'
import type { ModelInstance } from './instance.js'

type Ticket = ModelTicket<ModelInstance>

/** What an operator changes; `null` clears a value. */
export type Change = { readonly [Name in keyof Settings]?: Settings[Name] | null }

/** What must be true of a queue in one process, by what was asked of it and by nothing that it keeps inside. */
export class Expectations {
  readonly #promises: Promises<ModelInstance>
  readonly #clock: FakeClock
  /** When each ticket gives up waiting, and when its lease ends. */
  readonly #timesOutAtMs = new Map<Ticket, number>()
  readonly #capMs = new Map<Ticket, number>()
  readonly #watched = new Set<Ticket>()
  /** How often tickets ended in which way. */
  readonly endings: Map<string, number> = new Map()
  /** The settings in the code of whoever started last, and an operator's over them (R23). */
  #code: Settings
  #operator: Partial<Settings> = {}
  #version = 0
  #lastFence = 0

  constructor(promises: Promises<ModelInstance>, clock: FakeClock, code: Settings) {
    this.#promises = promises
    this.#clock = clock
    this.#code = code
  }

  get settings(): Settings {
    return { ...this.#code, ...this.#operator }
  }

  get version(): number {
    return this.#version
  }

  /** Who waits, in the order of arrival. */
  get line(): Ticket[] {
    return this.#promises.waiting.filter(({ ticket }) => ticket?.state === 'waiting')
  }

  /** Those of them whose turn it may be by the cap of their key: of each key the first ones (R22). */
  get #mayRun(): Ticket[] {
    const { perKey } = this.settings
    const counts = new Map<string, number>()
    const count = ({ key }: Ticket): number => {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return counts.get(key)!
    }
    for (const ticket of this.#promises.holders) count(ticket)
    return this.line.filter((ticket) => count(ticket) <= perKey.concurrency)
  }

  /** Permits of all that run and are counted. */
  get used(): number {
    return permitsOf(this.#promises.holders)
  }

  /** An instance starts; `alone`: nobody is left who remembers anything. */
  starts(code: Settings, alone: boolean): void {
    this.#code = code
    if (!alone) return
    this.#operator = {}
    this.#version = 0
    this.#lastFence = 0
  }

  /** An operator changes something. */
  changes(change: Change): void {
    const kept = Object.entries({ ...this.#operator, ...change }).filter(([, value]) => value !== null)
    this.#operator = Object.fromEntries(kept) as Partial<Settings>
    this.#version += 1
  }

  enters(ticket: Ticket): void {
    const usualMs = this.settings.maxWaitMs
    const { maxWaitMs: asked } = ticket
    const waitMs = asked === undefined ? usualMs : Math.min(asked, this.#operator.maxWaitMs ?? Infinity)
    this.#timesOutAtMs.set(ticket, this.#clock.now() + waitMs)
  }

  entered(ticket: Ticket): void {
    if (this.line.indexOf(ticket) >= this.settings.maxQueueSize)
      this.#promises.broken(`${ticket.name} waits in a line that was full`)
    if (this.#sameKey(this.line, ticket).indexOf(ticket) >= this.settings.perKey.maxQueueSize)
      this.#promises.broken(`${ticket.name} waits, and of its key as many wait as may`)
  }

  /** Somebody looks at where a ticket stands. */
  watches(ticket: Ticket): void {
    this.#watched.add(ticket)
  }

  granted(ticket: Ticket): void {
    const { lease, name } = ticket
    if (lease!.signal.aborted) this.#promises.broken(`${name} starts with a lease that has ended`)
    if (!lease!.counted) return
    const { concurrency, leaseMs, perKey } = this.settings
    this.#capMs.set(ticket, this.#clock.now() + leaseMs)
    if (lease!.fence <= this.#lastFence) this.#promises.broken(`the fence of ${name} is not higher than the one before`)
    this.#lastFence = lease!.fence
    if (this.used > concurrency)
      this.#promises.broken(`limit: ${name} granted; ${this.used} permits of ${concurrency} are used`)
    const own = this.#sameKey(this.#promises.holders, ticket)
    if (own.length > perKey.concurrency)
      this.#promises.broken(`limit: ${name} granted; ${own.length} of its key run, and ${perKey.concurrency} may`)
    const { tickets } = this.#promises
    const before = new Set(tickets.slice(0, tickets.indexOf(ticket)))
    const mayRun = new Set(this.#mayRun)
    const overtaken = this.line.find(
      (other) => before.has(other) && other.permits <= concurrency && (mayRun.has(other) || other.key === ticket.key),
    )
    if (overtaken !== undefined) this.#promises.broken(`order: ${name} overtakes ${overtaken.name}`)
  }

  ended(ticket: Ticket, error: FairQueueError | undefined): void {
    const { name, ending, owner, permits, lease } = ticket
    const { concurrency, maxQueueSize, perKey } = this.settings
    const now = this.#clock.now()
    const how = error === undefined ? ending! : `${ending} ${error.code}`
    this.endings.set(how, (this.endings.get(how) ?? 0) + 1)
    const isImpossible = concurrency > 0 && permits > concurrency
    const reasons: Record<string, boolean | undefined> = {
      released: lease?.signal.aborted === false,
      'cancelled FQ_CANCELLED': true,
      'cancelled FQ_DRAINING': owner.queue.closing,
      'rejected FQ_DRAINING': owner.queue.closing,
      'rejected FQ_QUEUE_FULL': this.line.length >= maxQueueSize,
      'rejected FQ_KEY_LIMIT': this.#sameKey(this.line, ticket).length >= perKey.maxQueueSize,
      'rejected FQ_PERMITS_EXCEED_LIMIT': isImpossible,
      'failed FQ_PERMITS_EXCEED_LIMIT': isImpossible,
      'timedOut FQ_WAIT_TIMEOUT': now >= this.#timesOutAtMs.get(ticket)!,
      'leaseLost FQ_LEASE_LOST': lease?.signal.aborted && (now >= this.#capOf(ticket) || now >= owner.closesAtMs),
    }
    if (reasons[how] !== true) this.#promises.broken(`${name} ended without reason: ${how}`)
  }

  /** What must be true between any two steps. */
  check(): void {
    this.#promises.check()
    this.#checkLine()
    for (const ticket of this.#promises.holders) {
      if (this.#clock.now() >= this.#capOf(ticket)) throw new Broken(`${ticket.name} runs past the end of its lease`)
    }
  }

  #checkLine(): void {
    const { concurrency, enabled } = this.settings
    const free = concurrency - this.used
    const [next] = this.#mayRun
    for (const [index, ticket] of this.line.entries()) {
      const { name, permits } = ticket
      if (!enabled) throw new Broken(`${name} waits for a queue that is switched off`)
      if (ticket === next && permits <= free)
        throw new Broken(`hand-over: ${name} waits for ${permits} permits, ${free} are free`)
      if (concurrency > 0 && permits > concurrency) throw new Broken(`${name} waits for what it can never have`)
      if (this.#clock.now() >= this.#timesOutAtMs.get(ticket)!) throw new Broken(`${name} waits longer than it may`)
      // What it was told may be old, but the line only moves up.
      if (this.#watched.has(ticket) && (ticket.ticket.position ?? Infinity) < index + 1)
        throw new Broken(`${name} was told to be nearer than it is`)
    }
  }

  #sameKey(tickets: readonly Ticket[], { key }: Ticket): Ticket[] {
    return tickets.filter((other) => other.key === key)
  }

  #capOf(ticket: Ticket): number {
    return this.#capMs.get(ticket) ?? Infinity
  }
}

function permitsOf(tickets: readonly Ticket[]): number {
  return tickets.reduce((sum, { permits }) => sum + permits, 0)
}
