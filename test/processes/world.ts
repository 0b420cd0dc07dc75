import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, vi } from 'vitest'
import { RedisServer } from '../kit/redisServer.js'
import type { ProcessConfig } from '../programs/queueProcess.js'
import { Log, mostAtOnce, type Run } from './log.js'
import { QueueProcess } from './queueProcess.js'
import { readMember, StoreMonitor, type StoreGrant } from './storeMonitor.js'

/** How long anything may take on a slow and busy machine, where no bound is what the test is about. */
const PATIENCE_MS = 20_000

const STATE = 'fairqueue:{line}:state'

/** Options of the line, and of the process' client. */
export type ProcessOptions = ProcessConfig['queue'] & Partial<Pick<ProcessConfig, 'reconnectMs'>>

/** Several real processes on one real Redis, and what a test sees of them. */
export class World {
  readonly server: RedisServer
  readonly log: Log
  /** The test's own client. */
  readonly redis: Redis
  readonly #processes: QueueProcess[] = []
  #monitor: StoreMonitor | undefined

  constructor(server: RedisServer, log: Log) {
    this.server = server
    this.log = log
    this.redis = new Redis(server.port, server.host, { retryStrategy: () => 20, maxRetriesPerRequest: null })
    this.redis.on('error', () => undefined)
  }

  /** Starts one process for each letter; by turns with ioredis 6 and 5. */
  async start(names: string, { reconnectMs = 50, ...queue }: ProcessOptions): Promise<QueueProcess[]> {
    const started = names.split('').map((name, index) => {
      const ioredis = index % 2 === 0 ? 6 : 5
      const defaults = { bootGraceMs: 0, maxWaitMs: '10m' }
      const common = { port: this.server.port, log: this.log.path, reconnectMs, queue: { ...defaults, ...queue } }
      return new QueueProcess({ name, ioredis, ...common }, this.log)
    })
    this.#processes.push(...started)
    await Promise.all(started.map(({ ready }) => ready))
    return started
  }

  /** Sees every command from here on. */
  async monitor(): Promise<StoreMonitor> {
    this.#monitor = new StoreMonitor(this.server.port, this.server.host)
    await this.#monitor.open()
    return this.#monitor
  }

  /** One ticket of each process in turn, each answered before the next asks. They run until told to finish. */
  async enterInTurn(...processes: readonly QueueProcess[]): Promise<void> {
    for (const process of processes) {
      await process.enter(1)
      await process.answered()
    }
  }

  /** Who waits, by the store, in its order. */
  async line(): Promise<string[]> {
    return (await this.members('waiting')).map(({ ticket }) => ticket)
  }

  /** Who runs, by the store, in the order of arrival. */
  async running(): Promise<string[]> {
    const members = await this.members('running')
    return members.toSorted((a, b) => (a.number < b.number ? -1 : 1)).map(({ ticket }) => ticket)
  }

  async members(set: 'waiting' | 'running'): Promise<{ readonly ticket: string; readonly number: string }[]> {
    const members = await this.redis.zrange(`fairqueue:{line}:${set}`, 0, '-1')
    return members.filter((member) => member !== '~').map(readMember)
  }

  /** What the state's packed numbers say. */
  async numbers(): Promise<{ readonly epoch: number; readonly lastExchangeMs: number; readonly graceUntilMs: number }> {
    const packed = await this.redis.hgetBuffer(STATE, 'numbers')
    if (packed === null) return { epoch: 0, lastExchangeMs: 0, graceUntilMs: 0 }
    const [epoch, lastExchangeMs, graceUntilMs] = [0, 2, 6].map((index) => packed.readDoubleLE(8 * index))
    return { epoch: epoch!, lastExchangeMs: lastExchangeMs!, graceUntilMs: graceUntilMs! }
  }

  /** The identity of the server that the state is from. */
  async serverRun(): Promise<string | undefined> {
    return (await this.redis.hget(STATE, 'standing'))?.split(' ')[1]
  }

  /** Resolves when so many have ended. */
  async ended(count: number): Promise<void> {
    await eventually(() => ok(this.log.of('ended').length >= count, `${this.log.of('ended').length} ended`))
  }

  /** Every ticket that entered was served, once and with a fence of its own, except those named; nothing else went wrong in any process. */
  assertServedOnce({ refused = [], lost = [] }: { refused?: readonly string[]; lost?: readonly string[] } = {}): void {
    const { log } = this
    deepEqual(log.of('fault'), [])
    deepEqual(log.tickets('refused').toSorted(), refused.toSorted())
    deepEqual(log.tickets('lost').toSorted(), lost.toSorted())
    const served = log.tickets('entered').filter((ticket) => !refused.includes(ticket))
    deepEqual(log.tickets('started').toSorted(), served.toSorted())
    const ended = served.filter((ticket) => !lost.includes(ticket))
    deepEqual(log.tickets('ended').toSorted(), ended.toSorted())
    const fences = log.of('started').map(({ fence }) => fence)
    equal(new Set(fences).size, fences.length)
  }

  /** Never more than `limit` at once, and the limit was reached: a line that never fills shows nothing. */
  assertLimitKept(limit: number, runs: readonly Run[] = this.log.runs()): void {
    equal(mostAtOnce(runs), limit)
  }

  /** The store granted in the order of arrival. */
  assertOrderKept(grants: readonly StoreGrant[]): void {
    const numbers = grants.map(({ number }) => number)
    deepEqual(numbers, numbers.toSorted())
  }

  /** Nothing is left in the store. */
  async assertEmpty(): Promise<void> {
    await eventually(async () => deepEqual([await this.line(), await this.running()], [[], []]))
  }

  async end(): Promise<void> {
    this.#monitor?.close()
    await Promise.all(this.#processes.map((process) => process.end()))
    this.redis.disconnect()
    this.log.close()
  }
}

/** Gives each test of the calling file a Redis and a log of its own; what it starts is ended after it. */
export function useWorld(): () => World {
  vi.setConfig({ testTimeout: 60_000 })
  let world: World
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'fairqueue-processes-'))
    world = new World(await RedisServer.started(), new Log(join(directory, 'log')))
  })
  afterEach(async () => {
    await world.end()
    await world.server.stop()
    await rm(directory, { recursive: true, force: true })
  })
  return () => world
}

/** Waits until an assertion holds. */
export async function eventually(assertion: () => void | Promise<void>, withinMs = PATIENCE_MS): Promise<void> {
  await vi.waitFor(assertion, { timeout: withinMs, interval: 10 })
}
