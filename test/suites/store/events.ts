import { expect, test, vi } from 'vitest'
import type { FairQueue, Logger, QueueEvents } from '@fairqueue/core'
import { queues, type MakeWorld } from './world.js'

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
    expect(events).toMatchObject([
      { name: 'granted', payload: { ticket: holder, key: 'ann', permits: 1, waitedMs: 0 } },
      { name: 'rejected', payload: { ticket: refused, key: 'eve', error: { code: 'FQ_QUEUE_FULL' } } },
      { name: 'timedOut', payload: { ticket: hasty, key: null, waitedMs: 1000, error: { code: 'FQ_WAIT_TIMEOUT' } } },
      { name: 'released', payload: { ticket: holder, key: 'ann', heldMs: 1500 } },
      { name: 'granted', payload: { ticket: patient, key: 'bob', waitedMs: 1500 } },
      { name: 'cancelled', payload: { ticket: gone, error: { code: 'FQ_CANCELLED', cause: 'bored' } } },
      { name: 'released', payload: { ticket: patient, heldMs: 0, waitedMs: 1500 } },
    ])
    expect(events).toHaveLength(7)
  })

  test('a listener that throws harms nobody and is told as an error', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, maxWaitMs: '1m' })
    const errors = vi.fn<(payload: unknown) => void>()
    const second = vi.fn<(payload: unknown) => void>()
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
    expect(second).toHaveBeenCalledTimes(1)
    expect(errors.mock.calls.map(([error]) => (error as Error).message).toSorted()).toEqual(
      expect.arrayContaining(['bad listener', 'bad status listener']),
    )
    expect(await queue.status()).toMatchObject({ running: 0 })
  })

  test('without an error listener it is the logger that hears, and a logger that throws harms nobody', async () => {
    const world = makeWorld()
    const warn = vi.fn<Logger['warn']>(() => {
      throw new Error('bad logger')
    })
    const queue = await world.queue({ concurrency: 1, logger: { warn } })
    queue.on('granted', () => {
      throw new Error('bad listener')
    })
    await (await queue.acquire()).release()
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('bad listener'),
      expect.objectContaining({ code: 'FQ_LISTENER_THREW' }),
    )
  })

  test('a listener taken off hears nothing more', async () => {
    const world = makeWorld()
    const [a] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    const listener = vi.fn<(payload: unknown) => void>()
    a.on('granted', listener)
    await (await a.acquire()).release()
    a.off('granted', listener)
    await (await a.acquire()).release()
    expect(listener).toHaveBeenCalledTimes(1)
  })

  test('a ticket has an id of its own that cannot be guessed, and tells its status to whom it is asked to', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1h' })
    const tickets = Array.from({ length: 50 }, () => queue.enter())
    await world.settled()
    expect(new Set(tickets.map(({ id }) => id)).size).toBe(50)
    const [first, last] = [tickets[0]!, tickets[49]!]
    expect(first.id).toMatch(/^\d{16}\.[\w-]{12}$/)
    expect(first.id).toBe(first.id)
    const kept = vi.fn<(payload: unknown) => void>()
    const takenOff = vi.fn<(payload: unknown) => void>()
    last.on('status', kept).on('status', takenOff).off('status', takenOff)
    first.cancel()
    await world.advance(1500)
    expect(kept).toHaveBeenCalledWith({ state: 'waiting', position: 49, etaMs: null })
    last.cancel()
    expect(kept).toHaveBeenLastCalledWith({ state: 'cancelled', position: null, etaMs: null })
    expect(takenOff).not.toHaveBeenCalled()
  })

  test('a ticket that nobody waits for is no unhandled rejection', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: 100 })
    const unhandled = vi.fn<(payload: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    const ticket = queue.enter()
    void ticket.granted
    await world.advance(200)
    await world.settled()
    expect(ticket.state).toBe('timedOut')
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
}
