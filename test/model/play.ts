import type { FairQueueOptions } from '@fairqueue/core'
import type { ModelProcess } from './process.js'
import { times } from './process.js'
import { Broken } from './promises.js'
import type { Playable } from './property.js'
import type { ModelServer } from './server.js'
import { World } from './world.js'

export const PROCESSES = 3
export const MOST_TICKETS = 8

/** One run: a world with a few seats for processes, and the quiet that follows. */
export class Play implements Playable {
  readonly world: World
  readonly #limit: number
  readonly #seats: (ModelProcess | undefined)[] = []

  constructor(server: ModelServer, limit: number, options: Partial<FairQueueOptions> = {}) {
    this.#limit = limit
    this.world = new World(server, { ...options, concurrency: limit })
  }

  seat(at: number): ModelProcess | undefined {
    return this.#seats[at]
  }

  /** A fresh process takes a seat. */
  occupy(at: number): ModelProcess {
    const process = this.world.start()
    this.#seats[at] = process
    return process
  }

  async settle(): Promise<void> {
    await this.world.settle()
  }

  check(): void {
    this.world.check()
  }

  /**
   * All faults are healed and everybody who is let in leaves at once: then every ticket ends, the store is empty, nobody calls it any more,
   * and as many fresh tickets as there are permits are let in at once.
   */
  async quiet(): Promise<void> {
    const { world } = this
    const limit = this.#limit
    const { promises } = world
    for (const process of world.processes) {
      if (process.dead) continue
      if (!process.connected) await world.mend(process)
      if (process.frozen) await world.thaw(process)
    }
    // It comes after all of them, and asks for everything that there is: it is let in last.
    const last = world.start()
    // Whoever returns brings the operator's settings of before.
    await world.advance(times.livenessMs)
    await world.configure(last, { concurrency: limit, enabled: true, perKey: null })
    await world.settle()
    await world.enter(last, limit)
    const deadline = world.nowMs + 5 * times.livenessMs + times.leaseMs
    while (promises.tickets.some((ticket) => ticket.ending === undefined && !ticket.owner.dead)) {
      if (world.nowMs > deadline) {
        const left = promises.tickets.filter((ticket) => ticket.ending === undefined && !ticket.owner.dead)
        throw new Broken(`no ending: ${left.map(({ name }) => name).join(', ')}`)
      }
      await world.advance(times.pollIntervalMs / 2)
      for (const ticket of promises.running) if (ticket.owner.awake) await world.release(ticket)
      await world.settle()
    }
    await this.#checkStore(last, limit)
  }

  async end(stats: Record<string, number>): Promise<void> {
    const { world } = this
    const count = (word: string): void => void (stats[word] = (stats[word] ?? 0) + 1)
    for (const { owner, ending, lease, letInAlone } of world.promises.tickets)
      count(
        `${owner.dead ? 'dead ' : ''}${letInAlone ? 'by itself ' : ''}${lease === undefined ? '' : 'granted '}${ending}`,
      )
    for (const { script, how } of world.executedCalls) count(`${script.name} ${how}`)
    await world.end()
  }

  async #checkStore(last: ModelProcess, limit: number): Promise<void> {
    const { world } = this
    await world.advance(times.livenessMs)
    const before = world.executedCalls.length
    await world.advance(times.livenessMs)
    const calls = world.executedCalls.length - before
    if (calls > 0) throw new Broken(`nobody has a ticket, and still there were ${calls} calls`)

    // The first one after such a silence may meet the rest of a grace.
    const probe = await world.enter(last)
    for (let waitedMs = 0; !probe.runs && waitedMs < times.livenessMs; waitedMs += 100) await world.advance(100)
    if (!probe.runs) throw new Broken('stuck: everything has ended, and still nobody is let in')
    // Long enough to see that others are dead; if nobody called, that would cost nobody anything.
    await world.advance(times.livenessMs * 0.8)
    await world.release(probe)
    await world.settle()

    const status = last.queue.status()
    await world.settle()
    const { running, waiting } = await status
    if (running !== 0 || waiting !== 0)
      throw new Broken(`leaked: everything has ended, and the store counts ${running} running, ${waiting} waiting`)
    const keyed = Number(await world.server.command('ZCARD', 'fairqueue:{q}:keyed'))
    if (keyed > 1) throw new Broken(`leaked: everything has ended, and the store remembers ${keyed - 1} tickets by key`)

    const tickets = []
    for (let i = 0; i < limit; i += 1) tickets.push(await world.enter(last))
    await world.settle()
    const let_in = tickets.filter(({ runs }) => runs).length
    if (let_in < limit) throw new Broken(`leaked: ${let_in} of ${limit} permits are left`)
  }
}
