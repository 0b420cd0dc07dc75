import { isFairQueueError, type FairQueue, type FairQueueOptions } from '@fairqueue/core'
import { vi } from 'vitest'
import type { TestRedis } from '../kit/clients.js'
import { breathe } from '@fairqueue/core/testing'
import type { Call } from './pipes.js'
import { ModelProcess } from './process.js'
import { Broken, ModelTicket, Promises } from './promises.js'
import { ModelServer, type Executed, type KeyName } from './server.js'
import { StorePromises } from './storePromises.js'
import { StoreTime } from './storeTime.js'
import { describe } from './trace.js'
import { traced } from './traced.js'

/** For how long a place is kept whose client has gone. */
const COME_BACK_MS = 2000

/** Far from any real date, so that nothing of it expires by real time. */
const START_MS = 2_000_000_000_000

/** Several processes, one Redis, and the network between them: every single thing happens when the test says so. */
export class World {
  readonly processes: ModelProcess[] = []
  readonly promises: Promises<ModelProcess>
  readonly time: StoreTime = new StoreTime(START_MS)
  readonly watch: StorePromises
  readonly server: ModelServer
  /** Calls and hints of the past, for copies that come late. */
  readonly executedCalls: Call[] = []
  readonly pastHints: { readonly process: ModelProcess; readonly message: string }[] = []
  readonly #options: Partial<FairQueueOptions>
  #nowMs = 0
  #run = 'run1'
  #restoreOld: (() => Promise<void>) | undefined

  constructor(server: ModelServer, options: Partial<FairQueueOptions> = {}) {
    this.server = server
    server.nameOf = (_instance, ticket) =>
      this.promises.tickets.find(({ slotName }) => slotName !== undefined && secretOf(slotName) === secretOf(ticket))
        ?.name
    this.#options = options
    this.promises = new Promises((ticket) => this.watch.granted(ticket))
    this.watch = new StorePromises(
      this.promises,
      this.time,
      () => server.snapshot,
      (instance) => this.processes.find(({ id }) => id === instance),
      server.nameOf,
    )
  }

  /** For a test of its own: nothing in it is left to chance. */
  static async on(redis: TestRedis, options: Partial<FairQueueOptions> = {}): Promise<World> {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const server = new ModelServer(redis)
    await server.start()
    return new World(server, options)
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** A fresh process; its greeting is sent when everybody breathes. */
  start(options: Partial<FairQueueOptions> = {}): ModelProcess {
    const label = String.fromCodePoint(65 + this.processes.length)
    const process = new ModelProcess(label, this.#nowMs, this.#run, { ...this.#options, ...options })
    this.processes.push(process)
    this.watch.joined(process)
    this.promises.watch(process.queue)
    return process
  }

  /** Several processes that know each other. */
  async startAll(
    count: 1 | 2 | 3,
    options: Partial<FairQueueOptions> = {},
  ): Promise<[ModelProcess, ModelProcess, ModelProcess]> {
    const started = Array.from({ length: count }, () => this.start(options))
    await this.settle()
    return started as [ModelProcess, ModelProcess, ModelProcess]
  }

  /** Asks for a place; nothing is delivered yet. */
  async enter(owner: ModelProcess, permits = 1, maxWaitMs?: number, key?: string): Promise<ModelTicket<ModelProcess>> {
    const ticket = new ModelTicket(`${owner.label}${this.promises.tickets.length + 1}`, owner, permits, maxWaitMs, key)
    this.promises.enter(owner.queue, ticket)
    await breathe()
    return ticket
  }

  async release(ticket: ModelTicket<ModelProcess>): Promise<void> {
    void ticket.lease!.release()
    await breathe()
  }

  async cancel(ticket: ModelTicket<ModelProcess>): Promise<void> {
    ticket.ticket.cancel()
    await breathe()
  }

  /** Its client goes, and may come back for a while. */
  async leave(ticket: ModelTicket<ModelProcess>): Promise<void> {
    ticket.absent = true
    ticket.ticket.leave(COME_BACK_MS)
    await breathe()
  }

  /** Its client comes back, through any process. */
  async resume(ticket: ModelTicket<ModelProcess>, process: ModelProcess): Promise<void> {
    this.promises.resume(process.queue, process, ticket)
    await breathe()
  }

  /** An operator changes settings through this process; who loses that call does not ask again. */
  async configure(process: ModelProcess, change: Parameters<FairQueue['configure']>[0]): Promise<void> {
    process.queue.configure(change).catch((error: unknown) => {
      if (!isFairQueueError(error)) throw error
    })
    await breathe()
  }

  // The network, one message at a time.

  /** The server executes the oldest request of a process. `stays`: the library sends it once more. `answered` false: the reply is lost. */
  async execute({ pipes }: ModelProcess, { stays = false, answered = true } = {}): Promise<Executed> {
    const call = stays ? pipes.requests[0]! : pipes.requests.shift()!
    const executed = await this.#execute(call, false)
    if (!stays && answered) pipes.answers.push({ call, reply: executed.reply })
    return executed
  }

  /** The server executes a copy of an old call; nobody hears the answer. */
  async executeCopy(call: Call): Promise<Executed> {
    return await this.#execute(call, true)
  }

  /** A process gets the oldest answer. */
  async answer({ pipes }: ModelProcess): Promise<void> {
    this.watch.answered(pipes.answers[0]!)
    pipes.answer()
    await breathe()
  }

  /** All that one process has sent is executed and answered, and what it sends on that, and nothing else happens. */
  async talk(process: ModelProcess): Promise<void> {
    await breathe()
    while (process.pipes.requests.length > 0) {
      await this.execute(process)
      await this.answer(process)
    }
  }

  /** A process gets a hint. */
  async hint(process: ModelProcess, { index = 0, stays = false } = {}): Promise<void> {
    const message = stays ? process.pipes.hints[index]! : process.pipes.hints.splice(index, 1)[0]!
    await this.hear(process, message)
  }

  /** A process gets a hint of any age. */
  async hear(process: ModelProcess, message: string): Promise<void> {
    this.watch.hinted(process, message)
    process.pipes.hint(message)
    await breathe()
  }

  /** All that is on its way arrives, and what that sets going, until nothing is on its way. */
  async settle(): Promise<void> {
    await breathe()
    let rounds = 0
    for (let busy = true; busy;) {
      busy = false
      rounds += 1
      if (rounds > 200) throw new Broken('the processes and the store keep each other busy for ever')
      for (const process of this.processes) {
        const { pipes } = process
        while (process.connected && pipes.requests.length > 0) {
          busy = true
          await this.execute(process)
        }
        while (process.awake && pipes.answers.length + pipes.hints.length > 0) {
          busy = true
          await (pipes.answers.length > 0 ? this.answer(process) : this.hint(process))
        }
      }
      this.check()
    }
  }

  // Time.

  /** Time goes on; `flows`: and the network does its work. */
  async advance(ms: number, { flows = true } = {}): Promise<void> {
    const target = this.#nowMs + ms
    if (flows) await this.settle()
    for (let next = this.#nextAtMs(); next <= target; next = this.#nextAtMs()) {
      this.#moveTo(Math.max(this.#nowMs, next))
      for (const { awake, clock } of this.processes) if (awake) clock.fireDue()
      await breathe()
      if (flows) await this.settle()
    }
    this.#moveTo(target)
  }

  /** The server's wall clock is set; processes have clocks of their own. */
  jump(ms: number): void {
    this.time.serverMs += ms
    if (this.time.isOpen) this.watch.timeMoved(ms)
    else if (ms > 0) this.watch.jumped()
  }

  // Faults.

  freeze(process: ModelProcess): void {
    process.frozen = true
  }

  /** It runs again, and finds overdue timers and a full socket buffer, in either order. */
  async thaw(process: ModelProcess, timersFirst = true): Promise<void> {
    process.frozen = false
    const { clock, pipes } = process
    if (timersFirst) clock.fireDue()
    await breathe()
    while (pipes.answers.length > 0) await this.answer(process)
    while (pipes.hints.length > 0) await this.hint(process)
    clock.fireDue()
    await breathe()
  }

  kill(process: ModelProcess): void {
    process.dead = true
  }

  async cut(process: ModelProcess, how: 'reject' | 'resend' = 'reject'): Promise<void> {
    process.connected = false
    process.pipes.cut(how)
    await breathe()
  }

  async mend(process: ModelProcess): Promise<void> {
    process.connected = true
    process.pipes.mend()
    await breathe()
  }

  async flushAll(): Promise<void> {
    const { before } = await this.server.flushAll()
    const { nowMs } = this.time
    this.time.forget()
    this.watch.timeMoved(this.time.nowMs - nowMs)
    if (before > 0) this.watch.lost({ everything: true })
  }

  async deleteKey(name: KeyName): Promise<void> {
    // With `state` goes the offset of a clock that was set back, and the dead would live as much longer: not looked at here.
    if (name === 'state' && this.time.skewMs !== 0) return await this.flushAll()
    const { existed, everything } = await this.server.delete(name)
    if (name === 'state') this.time.forget()
    if (existed) this.watch.lost({ everything })
  }

  /** Remembers the store as it is now, for a later {@link restartFromDump}. */
  async dump(): Promise<void> {
    this.#restoreOld = await this.server.dump()
  }

  /** The server comes back under another identity, with what it had written to disk before. Everybody's connection is cut. */
  async restartFromDump(): Promise<void> {
    if (this.#restoreOld === undefined) return
    for (const process of this.processes) if (!process.dead) await this.cut(process)
    await this.#restoreOld()
    this.#run = `run${Number(this.#run.slice(3)) + 1}`
    this.watch.lost({ everything: this.server.snapshot.epoch === '', run: this.#run })
    for (const process of this.processes) {
      process.pipes.serverRun = this.#run
      if (!process.dead) await this.mend(process)
    }
  }

  /** Throws if a promise is broken. */
  check(): void {
    this.watch.check()
  }

  /** Ends everything that would outlive the test. */
  async end(): Promise<void> {
    for (const { store } of this.processes) await store.close()
  }

  async #execute(call: Call, isCopy: boolean): Promise<Executed> {
    const executed = await this.server.execute(call, this.time.serverMs)
    if (!isCopy) this.executedCalls.push(call)
    for (const [channel, message] of executed.hints) {
      for (const process of this.processes) {
        if (!process.dead && process.pipes.hears(channel)) {
          process.pipes.hints.push(message)
          this.pastHints.push({ process, message })
        }
      }
    }
    if (traced) console.log(describe(executed, this.#nowMs, this.processes))
    this.watch.executed(executed, isCopy)
    return executed
  }

  #nextAtMs(): number {
    return Math.min(...this.processes.map(({ awake, clock }) => (awake ? clock.nextAtMs : Infinity)))
  }

  #moveTo(nowMs: number): void {
    this.time.serverMs += nowMs - this.#nowMs
    this.#nowMs = nowMs
    for (const { clock } of this.processes) clock.moveTo(nowMs)
  }
}

/** `index.secret`, and how often it was moved: the secret stays. */
function secretOf(slotName: string): string | undefined {
  return slotName.split('.')[1]
}
