import type { FairQueue, Logger, QueueEvents } from '../../index.js'
import { queues, type MakeWorld } from './world.js'
import { deepEqual, equal, includes, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

const names = [
  'granted',
  'released',
  'rejected',
  'timedOut',
  'cancelled',
  'failed',
  'leaseLost',
  'configConflict',
  'settingsChanged',
  'degraded',
  'wakeChannel',
  'error',
] as const satisfies (keyof QueueEvents)[]

/** Writes down the events of tickets, in their order. */
function record(queue: FairQueue): { readonly name: string; readonly payload: unknown }[] {
  const events: { name: string; payload: unknown }[] = []
  for (const name of names) {
    if (!['settingsChanged', 'wakeChannel'].includes(name))
      queue.on(name, (payload: unknown) => events.push({ name, payload }))
  }
  return events
}

export function eventTests(makeWorld: MakeWorld): void {
  test('events tell the life of a ticket, each once and with what it was', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, maxQueueSize: 2, maxWaitMs: '10s' })
    const events = record(queue)
    const holder = queue.enter({ key: 'ann' })
    const lease = await holder.granted
    const patient = queue.enter({ key: 'bob' })
    const hasty = queue.enter({ maxWaitMs: 1000 })
    await world.settled()
    const refused = queue.enter({ key: 'eve' })
    await world.settled()
    await world.advance(1500)
    await lease.release()
    await world.settled()
    const gone = queue.enter()
    await world.settled()
    gone.cancel('bored')
    await (await patient.granted).release()
    await world.settled()
    matches(events, [
      { name: 'granted', payload: { ticket: holder, key: 'ann', permits: 1, waitedMs: 0 } },
      { name: 'rejected', payload: { ticket: refused, key: 'eve', error: { code: 'FQ_QUEUE_FULL' } } },
      { name: 'timedOut', payload: { ticket: hasty, key: null, waitedMs: 1000, error: { code: 'FQ_WAIT_TIMEOUT' } } },
      { name: 'released', payload: { ticket: holder, key: 'ann', heldMs: 1500 } },
      { name: 'granted', payload: { ticket: patient, key: 'bob', waitedMs: 1500 } },
      { name: 'cancelled', payload: { ticket: gone, error: { code: 'FQ_CANCELLED', cause: 'bored' } } },
      { name: 'released', payload: { ticket: patient, heldMs: 0, waitedMs: 1500 } },
    ])
    equal(events.length, 7)
  })

  test('a listener that throws harms nobody and is told as an error', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, maxWaitMs: '1m' })
    const errors = spy<(payload: unknown) => void>()
    const second = spy<(payload: unknown) => void>()
    queue.on('error', errors)
    queue.on('granted', () => {
      throw new Error('bad listener')
    })
    queue.on('granted', second)
    const ticket = queue.enter({
      onStatus: () => {
        throw new Error('bad status listener')
      },
    })
    ticket.whenSettled(() => {
      throw new Error('bad settled listener')
    })
    await (await ticket.granted).release()
    await world.settled()
    equal(second.calls.length, 1)
    const told = errors.calls.map(([error]) => (error as Error).message)
    for (const message of ['bad listener', 'bad status listener']) includes(told, message)
    matches(await queue.status(), { running: 0 })
  })

  test('without an error listener it is the logger that hears, and a logger that throws harms nobody', async () => {
    const world = makeWorld()
    const warn = spy<Logger['warn']>(() => {
      throw new Error('bad logger')
    })
    const queue = await world.queue({ concurrency: 1, logger: { warn } })
    queue.on('granted', () => {
      throw new Error('bad listener')
    })
    await (await queue.acquire()).release()
    matches(warn.calls, [[/bad listener/, { code: 'FQ_LISTENER_THREW' }]])
  })

  test('a listener taken off hears nothing more', async () => {
    const world = makeWorld()
    const [a] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    const listener = spy<(payload: unknown) => void>()
    a.on('granted', listener)
    await (await a.acquire()).release()
    a.off('granted', listener)
    await (await a.acquire()).release()
    equal(listener.calls.length, 1)
  })

  test('a ticket has an id of its own that cannot be guessed, and tells its status to whom it is asked to', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1h' })
    const tickets = Array.from({ length: 50 }, () => queue.enter())
    await world.settled()
    equal(new Set(tickets.map(({ id }) => id)).size, 50)
    const [first, last] = [tickets[0]!, tickets[49]!]
    matches(first.id, /^\d{16}\.[\w-]{12}$/)
    equal(first.id, first.id)
    const kept = spy<(payload: unknown) => void>()
    const takenOff = spy<(payload: unknown) => void>()
    last.on('status', kept).on('status', takenOff).off('status', takenOff)
    first.cancel()
    await world.advance(1500)
    includes(kept.calls, [{ state: 'waiting', position: 49, etaMs: null }])
    last.cancel()
    deepEqual(kept.calls.at(-1), [{ state: 'cancelled', position: null, etaMs: null }])
    deepEqual(takenOff.calls, [])
  })

  test('a ticket that nobody waits for is no unhandled rejection', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: 100 })
    const unhandled = spy<(payload: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    const ticket = queue.enter()
    void ticket.granted
    await world.advance(200)
    await world.settled()
    equal(ticket.state, 'timedOut')
    process.off('unhandledRejection', unhandled)
    deepEqual(unhandled.calls, [])
  })
}
