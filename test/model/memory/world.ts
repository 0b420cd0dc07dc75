import { FairQueue, MemoryStore, type Settings } from '@fairqueue/core'
import { breathe, FakeClock } from '@fairqueue/core/testing'
import { Broken, ModelTicket, Promises } from '../promises.js'
import type { Playable } from '../property.js'
import { Expectations, type Change } from './expectations.js'
import type { ModelInstance } from './instance.js'

type Ticket = ModelTicket<ModelInstance>

/** What a caller does within the very callback that lets its ticket in. */
export type Reaction = 'nothing' | 'release' | 'enter' | 'cancel another' | 'configure'

const declared = {
  concurrency: 1,
  maxQueueSize: 4,
  maxWaitMs: 20_000,
  leaseMs: 5000,
  enabled: true,
  perKey: { concurrency: Infinity, maxQueueSize: Infinity },
} as const

/**
 * Several instances on one `MemoryStore`, by one clock. All that this store does it does within the call, so that is when the promises are
 * checked: before any promise of JavaScript resolves.
 */
export class MemoryWorld implements Playable {
  readonly instances: ModelInstance[] = []
  readonly promises: Promises<ModelInstance> = new Promises(
    (ticket) => this.#granted(ticket),
    (ticket, error) => this.#expectations.ended(ticket, error),
  )
  readonly #limit: number
  readonly #clock = new FakeClock()
  readonly #store = new MemoryStore()
  readonly #expectations: Expectations
  readonly #reactions = new Map<Ticket, Reaction>()
  /** An operator's change that is made within the callback that tells of another. */
  #changeWithin: Change | undefined
  #isQuiet = false

  constructor(limit: number) {
    this.#limit = limit
    this.#expectations = new Expectations(this.promises, this.#clock, declared)
  }

  get open(): ModelInstance[] {
    return this.instances.filter(({ queue }) => !queue.closing)
  }

  start(options: Partial<Settings> = {}): ModelInstance {
    const code = { ...declared, concurrency: this.#limit, ...options }
    this.#expectations.starts(
      code,
      this.instances.every(({ hasLeft }) => hasLeft),
    )
    const logger = { warn: () => undefined }
    const queue = new FairQueue({ name: 'q', ...code, store: this.#store, clock: this.#clock, logger })
    const label = String.fromCodePoint(65 + this.instances.length)
    const instance: ModelInstance = { label, queue, closesAtMs: Infinity, hasLeft: false }
    this.instances.push(instance)
    this.promises.watch(queue)
    queue.on('settingsChanged', () => {
      const change = this.#changeWithin
      this.#changeWithin = undefined
      if (change !== undefined) this.#configure(instance, change)
    })
    this.check()
    return instance
  }

  enter(owner: ModelInstance, permits = 1, maxWaitMs?: number, reaction: Reaction = 'nothing', key?: string): Ticket {
    const ticket = this.#enter(owner, permits, maxWaitMs, reaction, key)
    this.check()
    return ticket
  }

  async release(ticket: Ticket): Promise<void> {
    void ticket.lease!.release()
    // The last to go takes a closing instance with it.
    await this.settle()
  }

  cancel(ticket: Ticket): void {
    ticket.ticket.cancel()
    this.check()
  }

  watch(ticket: Ticket): void {
    this.#expectations.watches(ticket)
    this.check()
  }

  /** `within`: a second change, made by the first listener who is told of this one. */
  configure(instance: ModelInstance, change: Change, within?: Change): void {
    this.#changeWithin = within
    this.#configure(instance, change)
    this.#changeWithin = undefined
    this.check()
  }

  /** A change for another version than the one in force changes nothing. */
  configureBlindly({ queue }: ModelInstance): void {
    queue.configure({ concurrency: 7 }, { ifVersion: this.#expectations.version + 1 }).then(
      () => this.promises.broken('a change was made upon a version that is not in force'),
      () => undefined,
    )
    this.check()
  }

  /** `late`: somebody comes in the same tick. */
  async close(instance: ModelInstance, graceMs: number, late = false): Promise<void> {
    instance.closesAtMs = this.#clock.now() + graceMs
    void instance.queue.close({ graceMs }).then(() => (instance.hasLeft = true))
    if (late) this.#enter(instance)
    await this.settle()
  }

  /** Time goes on, every timer fires at its moment. */
  async advance(ms: number): Promise<void> {
    const target = this.#clock.now() + ms
    while (this.#clock.nextAtMs <= target) await this.stall(Math.max(0, this.#clock.nextAtMs - this.#clock.now()))
    await this.stall(target - this.#clock.now())
  }

  /** The process stands still, and then all timers fire that are overdue. */
  async stall(ms: number): Promise<void> {
    this.#clock.moveTo(this.#clock.now() + ms)
    this.#clock.fireDue()
    await this.settle()
  }

  /** The queue tells of itself what everybody has seen. */
  async look({ queue }: ModelInstance): Promise<void> {
    const { used, line, version, settings } = this.#expectations
    const instances = this.instances.filter(({ hasLeft }) => !hasLeft).length
    const expected = { ...settings, running: used, waiting: line.length, instances, version }
    const status = await queue.status()
    for (const [name, value] of Object.entries(expected)) {
      const got = JSON.stringify(status[name as keyof typeof expected])
      if (got !== JSON.stringify(value))
        throw new Broken(`status: ${name} is ${got} and should be ${JSON.stringify(value)}`)
    }
  }

  async settle(): Promise<void> {
    this.check()
    await breathe()
    this.check()
    for (const { name, owner } of this.promises.running)
      if (this.#clock.now() >= owner.closesAtMs) throw new Broken(`${name} outlives its instance`)
  }

  check(): void {
    this.#expectations.check()
    const expected = JSON.stringify(this.#expectations.settings)
    for (const { label, queue } of this.open) {
      const got = JSON.stringify(queue.settings)
      if (got !== expected) throw new Broken(`settings: ${label} goes by ${got}, and ${expected} is in force`)
    }
  }

  /** Everybody who is let in leaves at once: then nobody is left, nothing is occupied, no timer runs, and the last one takes all with it. */
  async quiet(): Promise<void> {
    this.#isQuiet = true
    const last = this.start()
    this.configure(last, { concurrency: this.#limit, maxQueueSize: 10, enabled: true, maxWaitMs: null, perKey: null })
    for (let [next] = this.promises.running; next !== undefined; [next] = this.promises.running)
      await this.release(next)
    const left = this.promises.tickets.filter(({ ending }) => ending === undefined)
    if (left.length > 0) throw new Broken(`no ending: ${left.map(({ name }) => name).join(', ')}`)
    await this.look(last)

    const fresh = Array.from({ length: this.#limit + 1 }, () => this.enter(last))
    const waiting = fresh.pop()!
    if (!fresh.every(({ runs }) => runs) || !waiting.waits) throw new Broken('leaked: not all permits are left')
    for (const instance of this.open) await this.close(instance, 0)
    const { foreground, background } = this.#clock.pending
    if (foreground + background > 0) throw new Broken(`${foreground + background} timers run on when all have closed`)
    await this.look(this.start({ concurrency: 3 }))

    for (const { name, lease, ending } of this.promises.tickets) {
      if (lease !== undefined && lease.signal.aborted !== (ending === 'leaseLost'))
        throw new Broken(`${name} ended as ${ending}, and its signal says otherwise`)
    }
  }

  async end(stats: Record<string, number>): Promise<void> {
    for (const [how, count] of this.#expectations.endings) stats[how] = (stats[how] ?? 0) + count
    await Promise.all(this.instances.map(({ queue }) => queue.close({ graceMs: 0 })))
  }

  #enter(owner: ModelInstance, permits = 1, maxWaitMs?: number, reaction: Reaction = 'nothing', key?: string): Ticket {
    const name = `${owner.label}${this.promises.tickets.length + 1}`
    const ticket: Ticket = new ModelTicket(name, owner, permits, maxWaitMs, key)
    this.#reactions.set(ticket, reaction)
    this.#expectations.enters(ticket)
    this.promises.enter(owner.queue, ticket)
    this.#expectations.entered(ticket)
    return ticket
  }

  #configure({ queue }: ModelInstance, change: Change): void {
    this.#expectations.changes(change)
    const { version } = this.#expectations
    queue.configure(change).then(
      (record) => {
        if (record.version !== version)
          this.promises.broken(`a change made version ${record.version} instead of ${version}`)
      },
      (error: unknown) => this.promises.broken(`a change failed: ${String(error)}`),
    )
  }

  #granted(ticket: Ticket): void {
    this.#expectations.granted(ticket)
    const reaction = this.#isQuiet ? 'nothing' : this.#reactions.get(ticket)
    if (reaction === 'release') void ticket.lease!.release()
    else if (reaction === 'enter') this.#enter(ticket.owner)
    else if (reaction === 'cancel another') this.promises.waiting[0]?.ticket?.cancel()
    else if (reaction === 'configure') this.#configure(ticket.owner, { concurrency: 2 })
  }
}
