import { FairQueue, type FairQueueOptions } from '@fairqueue/core'
import { RedisStore, type RedisClient } from '@fairqueue/core/redis'
import { ChaosClient } from './chaosClient.js'
import type { ClientOptions, IoredisVersion, TestRedis } from './clients.js'
import { breathe, FakeClock } from '@fairqueue/core/testing'
import { WatchedClient } from './watchedClient.js'

/** A process of its own, as far as the product can tell: its own connection, store and clock. */
export class VirtualProcess {
  readonly clock: FakeClock
  readonly client: ChaosClient
  readonly store: RedisStore
  #stalled = false

  constructor(client: ChaosClient, nowMs: number) {
    this.client = client
    this.clock = new FakeClock()
    this.clock.moveTo(nowMs)
    this.store = new RedisStore({ redis: client })
  }

  get stalled(): boolean {
    return this.#stalled
  }

  /** An instance of a queue. Boot grace 0 and no warnings, unless told otherwise. */
  queue(options: Omit<FairQueueOptions, 'store' | 'clock'>): FairQueue {
    const quiet = { warn: () => undefined }
    return new FairQueue({ name: 'q', bootGraceMs: 0, logger: quiet, ...options, store: this.store, clock: this.clock })
  }

  /** It does not run: no timer fires and it hears nothing, but time goes on. */
  stall(): void {
    this.#stalled = true
    this.client.stall()
  }

  /** It runs again: what it has not heard arrives, then the overdue timers fire, unless `timersFirst`. */
  async wake({ timersFirst = false } = {}): Promise<void> {
    this.#stalled = false
    if (timersFirst) this.clock.fireDue()
    this.client.wake()
    await breathe()
    this.clock.fireDue()
    await this.client.settled()
  }

  /** It is gone without a word, as by SIGKILL. */
  die(): void {
    this.#stalled = true
    this.client.stall()
    this.client.fate = () => 'swallow'
  }
}

/** Whoever lives in a virtual time. */
interface Participant {
  readonly stalled: boolean
  readonly clock: FakeClock
  readonly client: { readonly calls: readonly unknown[]; settled(): Promise<void> }
}

/** One real Redis whose time moves by hand, together with that of all processes on it. */
export class VirtualRedis {
  readonly processes: VirtualProcess[] = []
  readonly #redis: TestRedis | null
  readonly #participants: Participant[] = []
  readonly #startMs: number
  #elapsedMs = 0
  #executed = 0
  /** Moves the server's wall clock only, in milliseconds. */
  skewMs = 0

  /** Without a Redis it has no processes but those that join with clients of their own. */
  constructor(redis: TestRedis | null) {
    this.#redis = redis
    this.#startMs = Date.now()
  }

  /** The server's time. */
  get serverMs(): number {
    return this.#startMs + this.#elapsedMs + this.skewMs
  }

  /** Another process; it is connected when this resolves. */
  async process(options: ClientOptions = {}, version: IoredisVersion = 'ioredis 6'): Promise<VirtualProcess> {
    const real = this.#redis!.client(options, version)
    await real.ping()
    const client = new ChaosClient(real, { serverMs: () => this.#nextServerMs() })
    const process = new VirtualProcess(client, this.#elapsedMs)
    this.processes.push(process)
    this.#participants.push(process)
    return process
  }

  /** Another process, with a client of any library. */
  watch(redis: RedisClient): { readonly store: RedisStore; readonly clock: FakeClock } {
    const client = new WatchedClient(redis, () => this.#nextServerMs())
    const clock = new FakeClock()
    clock.moveTo(this.#elapsedMs)
    this.#participants.push({ stalled: false, clock, client })
    return { store: new RedisStore({ redis: client.redis }), clock }
  }

  /** Even while time stands still no two calls are executed in the same microsecond. */
  #nextServerMs(): number {
    return this.serverMs + (this.#executed++ % 1000) / 1000
  }

  /** Time goes on for the server and for every process that runs; timers fire in order, and all that they set going is done before the next. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#elapsedMs + ms
    await this.settled()
    for (let nextMs = this.#nextAtMs(); nextMs <= targetMs; nextMs = this.#nextAtMs()) {
      this.#moveTo(Math.max(this.#elapsedMs, nextMs))
      for (const { stalled, clock } of this.#participants) if (!stalled) clock.fireDue()
      await this.settled()
    }
    this.#moveTo(targetMs)
  }

  /** Resolves when nothing is under way any more anywhere. */
  async settled(): Promise<void> {
    let calls: number
    do {
      calls = this.#calls()
      for (const { client } of this.#participants) await client.settled()
    } while (this.#calls() > calls)
  }

  #calls(): number {
    return this.#participants.reduce((sum, { client }) => sum + client.calls.length, 0)
  }

  #nextAtMs(): number {
    return Math.min(...this.#participants.map(({ stalled, clock }) => (stalled ? Infinity : clock.nextAtMs)))
  }

  #moveTo(elapsedMs: number): void {
    this.#elapsedMs = elapsedMs
    for (const { clock } of this.#participants) clock.moveTo(elapsedMs)
  }
}
