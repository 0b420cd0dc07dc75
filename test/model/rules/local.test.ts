import type { FairQueueOptions } from '@fairqueue/core'
import { describe, expect, test } from 'vitest'
import { useRedis } from '../../kit/clients.js'
import { times, type ModelProcess } from '../process.js'
import type { ModelTicket } from '../promises.js'
import { World } from '../world.js'

type Ticket = ModelTicket<ModelProcess>

const { livenessMs, pollIntervalMs, storeTimeoutMs } = times
const redis = useRedis()

/** Long enough for a process to go on by itself: one time-out to notice, and another for a short outage. */
const OUTAGE_MS = 2.5 * storeTimeoutMs

async function open(count: 1 | 2 | 3, options: Partial<FairQueueOptions> = {}) {
  const world = await World.on(redis, { onStoreError: 'local', leaseMs: '10m', ...options })
  const processes = await world.startAll(count)
  // With its first ticket a process learns of all others.
  for (const process of processes) {
    const ticket = await world.enter(process)
    await world.settle()
    await world.release(ticket)
    await world.settle()
  }
  return { world, a: processes[0], b: processes[1], c: processes[2] }
}

async function enterMany(world: World, process: ModelProcess, count: number, key?: string): Promise<Ticket[]> {
  const tickets: Ticket[] = []
  for (let i = 0; i < count; i += 1) tickets.push(await world.enter(process, 1, undefined, key))
  return tickets
}

/** One letter for each ticket: `r` runs, `w` waits, `.` has ended. */
function lettersOf(tickets: readonly Ticket[]): string {
  return tickets.map(({ runs, waits }) => (runs ? 'r' : waits ? 'w' : '.')).join('')
}

/** What the store holds, by name. */
function storeOf({ server: { snapshot } }: World) {
  return { running: snapshot.running.map(({ name }) => name), waiting: snapshot.waiting.map(({ name }) => name) }
}

function namesOf(tickets: readonly Ticket[]): string[] {
  return tickets.map(({ name }) => name)
}

/** A's ticket stands in the line, its answer was lost, and A lets it in; both permits are B's. */
async function letInWhileInDoubt() {
  const { world, a, b } = await open(2, { concurrency: 2 })
  const others = await enterMany(world, b, 2)
  await world.settle()
  const ticket = await world.enter(a)
  await world.execute(a, { stays: true })
  await world.cut(a)
  await world.advance(OUTAGE_MS)
  expect(ticket.runs).toBe(true)
  expect(storeOf(world).waiting).toEqual(namesOf([ticket]))
  return { world, a, others, ticket }
}

describe('running without the store', () => {
  test('R25: a process that gets no answer lets in its share of the limit, in order; what it runs already counts', async () => {
    const { world, a } = await open(2, { concurrency: 5 })
    const [running] = await enterMany(world, a, 1)
    await world.settle()
    await world.cut(a)
    const tickets = await enterMany(world, a, 4)
    expect(lettersOf(tickets)).toBe('wwww')
    await world.advance(OUTAGE_MS)
    expect(lettersOf([running!, ...tickets])).toBe('rrwww')
    const { degraded, local } = await a.queue.status()
    expect({ degraded, local }).toEqual({ degraded: true, local: { limit: 2, running: 2, waiting: 3 } })
    await world.release(running!)
    expect(lettersOf(tickets)).toBe('rrww')
    await world.release(tickets[0]!)
    await world.release(tickets[1]!)
    expect(lettersOf(tickets)).toBe('..rr')
    await world.release(tickets[2]!)
    // Where nobody waits a newcomer runs at once.
    expect(lettersOf(await enterMany(world, a, 2))).toBe('rw')
  })

  test('R25: a short outage is waited for, and nobody is refused', async () => {
    const { world, a } = await open(1)
    const [running, waiting] = await enterMany(world, a, 2)
    await world.settle()
    await world.cut(a)
    await world.advance(storeTimeoutMs * 0.9)
    await world.release(running!)
    expect(waiting!.waits).toBe(true)
    await world.mend(a)
    await world.settle()
    expect(waiting!.runs).toBe(true)
    expect(storeOf(world)).toEqual({ running: namesOf([waiting!]), waiting: [] })
  })

  test('R25: those in line keep their order, before newcomers', async () => {
    const { world, a, b } = await open(2, { concurrency: 2 })
    const others = await enterMany(world, b, 2)
    await world.settle()
    const early = await enterMany(world, a, 2)
    await world.settle()
    await world.cut(a)
    const late = await enterMany(world, a, 1)
    await world.advance(OUTAGE_MS)
    expect(lettersOf([...others, ...early, ...late])).toBe('rrrww')
    await world.release(early[0]!)
    expect(lettersOf([...early, ...late])).toBe('.rw')
    await world.release(early[1]!)
    expect(lettersOf(late)).toBe('r')
  })

  test('R25: what runs when the store answers again is counted by it, who waits goes on with its number, and nobody is let in twice', async () => {
    const { world, a, b } = await open(2, { concurrency: 2 })
    const [first, second] = await enterMany(world, b, 2)
    await world.settle()
    const early = await enterMany(world, a, 2)
    await world.settle()
    await world.cut(a)
    const late = await enterMany(world, a, 2)
    await world.advance(OUTAGE_MS)
    expect(lettersOf([...early, ...late])).toBe('rwww')
    await world.release(first!)
    await world.talk(b)
    await world.mend(a)
    await world.settle()
    // One permit came free meanwhile and went to the head of the line, who runs already.
    expect(storeOf(world)).toEqual({ running: namesOf([second!, early[0]!]), waiting: namesOf([early[1]!, ...late]) })
    await world.release(second!)
    await world.settle()
    expect(lettersOf([...early, ...late])).toBe('rrww')
    await world.advance(2 * livenessMs)
    expect(lettersOf([...early, ...late])).toBe('rrww')
    world.check()
  })

  test('R25: what was let in without a number gets one when the store answers again', async () => {
    const { world, a, b } = await open(2, { concurrency: 2 })
    await world.cut(a)
    const alone = await enterMany(world, a, 2)
    await world.advance(OUTAGE_MS)
    expect(lettersOf(alone)).toBe('rw')
    const others = await enterMany(world, b, 2)
    await world.settle()
    expect(lettersOf(others)).toBe('rr')
    await world.mend(a)
    await world.settle()
    // Over the limit, by as much as the share of the one that was cut off.
    expect(new Set(storeOf(world).running)).toEqual(new Set(namesOf([alone[0]!, ...others])))
    await world.release(others[0]!)
    await world.settle()
    expect(lettersOf(alone)).toBe('rw')
    await world.release(alone[0]!)
    await world.settle()
    expect(lettersOf(alone)).toBe('.r')
    world.check()
  })

  test('R25, R5: an acquire whose answer was lost has one place, also if it was let in meanwhile', async () => {
    const { world, a, others, ticket } = await letInWhileInDoubt()
    await world.mend(a)
    await world.settle()
    expect(new Set(storeOf(world).running)).toEqual(new Set(namesOf([ticket, ...others])))
    await world.release(ticket)
    await world.settle()
    expect(storeOf(world)).toEqual({ running: namesOf(others), waiting: [] })
    world.check()
  })

  test('R25, R5: if it has ended by then, nothing of it is left in the line', async () => {
    const { world, a, others, ticket } = await letInWhileInDoubt()
    await world.release(ticket)
    await world.mend(a)
    await world.settle()
    expect(storeOf(world)).toEqual({ running: namesOf(others), waiting: [] })
    world.check()
  })

  test('R25: a grant of which it hears late is the one that it has taken itself', async () => {
    const { world, a, b } = await open(2, { concurrency: 2 })
    const others = await enterMany(world, b, 2)
    await world.settle()
    const [ticket] = await enterMany(world, a, 1)
    await world.execute(a, { answered: false })
    await world.advance(OUTAGE_MS, { flows: false })
    expect(ticket!.runs).toBe(true)
    await world.release(others[0]!)
    await world.talk(b)
    for (let left = a.pipes.hints.length; left > 0; left -= 1) await world.hint(a)
    await world.settle()
    expect(new Set(storeOf(world).running)).toEqual(new Set(namesOf([others[1]!, ticket!])))
    world.check()
  })

  test('R25: after an outage longer than livenessMs what the store had let in is lost, what was let in without it is not', async () => {
    const { world, a, b } = await open(2, { concurrency: 4 })
    const [stored] = await enterMany(world, a, 1)
    const other = await world.enter(b)
    await world.settle()
    await world.cut(a)
    const [alone] = await enterMany(world, a, 1)
    await world.advance(livenessMs * 1.5)
    expect([stored!.runs, alone!.runs]).toEqual([true, true])
    await world.mend(a)
    await world.settle()
    expect([stored!.ending, alone!.ending]).toEqual(['leaseLost', undefined])
    expect(new Set(storeOf(world).running)).toEqual(new Set(namesOf([other, alone!])))
  })

  test('R25: nobody loses anything when the store was away for everybody, and comes back empty', async () => {
    const { world, a, b } = await open(2, { concurrency: 2 })
    const [first, second] = [await world.enter(a), await world.enter(b)]
    await world.settle()
    const [third, fourth] = [await world.enter(a), await world.enter(b)]
    await world.settle()
    for (const process of [a, b]) await world.cut(process)
    await world.advance(livenessMs * 1.5)
    expect(lettersOf([first, second, third, fourth])).toBe('rrww')
    await world.release(first)
    expect(lettersOf([first, second, third, fourth])).toBe('.rrw')
    await world.flushAll()
    for (const process of [a, b]) await world.mend(process)
    await world.advance(livenessMs * 1.5)
    expect(storeOf(world)).toEqual({ running: namesOf([second, third]), waiting: namesOf([fourth]) })
    await world.release(second)
    await world.settle()
    expect(fourth.runs).toBe(true)
    world.check()
  })

  test('R25: an outage that begins again during the return changes nothing', async () => {
    const { world, a } = await open(2, { concurrency: 2 })
    await world.cut(a)
    const tickets = await enterMany(world, a, 3)
    await world.advance(OUTAGE_MS)
    expect(lettersOf(tickets)).toBe('rww')
    await world.mend(a)
    // The exchange is answered, and what follows it is not.
    await world.execute(a)
    await world.answer(a)
    await world.cut(a)
    await world.advance(OUTAGE_MS)
    await world.release(tickets[0]!)
    expect(lettersOf(tickets)).toBe('.rw')
    await world.mend(a)
    await world.settle()
    expect(lettersOf(tickets)).toBe('.rr')
    expect(storeOf(world)).toEqual({ running: namesOf(tickets.slice(1)), waiting: [] })
    world.check()
  })

  test('R25: whoever has never reached the store lets in one at a time', async () => {
    const world = await World.on(redis, { onStoreError: 'local', concurrency: 8 })
    const fresh = world.start()
    await world.cut(fresh)
    const tickets = await enterMany(world, fresh, 3)
    await world.advance(OUTAGE_MS)
    expect(lettersOf(tickets)).toBe('rww')
    await world.mend(fresh)
    await world.settle()
    expect(lettersOf(tickets)).toBe('rrr')
    expect(new Set(storeOf(world).running)).toEqual(new Set(namesOf(tickets)))
  })

  test('R25: a number of its own that another ticket has, too, costs that one nothing', async () => {
    const { world, a, b } = await open(2, { concurrency: 4 })
    const running = await enterMany(world, b, 4)
    await world.settle()
    const first = await world.enter(a)
    await world.settle()
    const waiting = await enterMany(world, b, 3)
    await world.talk(b)
    await world.cut(a)
    // What is sent again until it is answered asks for nothing.
    await world.advance(pollIntervalMs * 1.2)
    const alone = await world.enter(a)
    await world.advance(OUTAGE_MS)
    await world.mend(a)
    await world.settle()
    const { snapshot } = world.server
    expect(snapshot.running.find(({ name }) => name === alone.name)!.number).toBe(snapshot.waiting.at(-1)!.number)
    expect(storeOf(world).waiting).toEqual(namesOf(waiting))
    for (const ticket of [first, alone, ...running]) await world.release(ticket)
    await world.settle()
    expect(lettersOf(waiting)).toBe('rrr')
  })

  test('R25: at limit 0 nobody is let in', async () => {
    const { world, a } = await open(1)
    await world.configure(a, { concurrency: 0 })
    await world.settle()
    await world.cut(a)
    const tickets = await enterMany(world, a, 1)
    await world.advance(OUTAGE_MS)
    expect(lettersOf(tickets)).toBe('w')
  })

  test('R25: whoever needs more than the share is passed over and waits for the store', async () => {
    const { world, a } = await open(2, { concurrency: 2 })
    await world.cut(a)
    const large = await world.enter(a, 2)
    const [small] = await enterMany(world, a, 1)
    await world.advance(OUTAGE_MS)
    expect(lettersOf([large, small!])).toBe('wr')
    await world.mend(a)
    await world.settle()
    await world.release(small!)
    await world.settle()
    expect(lettersOf([large])).toBe('r')
  })

  test('R25: the line is as long as it may be, and a newcomer beyond that is refused', async () => {
    const { world, a } = await open(1, { maxQueueSize: 2 })
    await world.cut(a)
    const tickets = await enterMany(world, a, 4)
    await world.advance(OUTAGE_MS)
    expect(lettersOf(tickets)).toBe('rww.')
    const [late] = await enterMany(world, a, 1)
    expect([tickets[3]!.ending, late!.ending]).toEqual(['rejected', 'rejected'])
    expect(late!.ticket.outcome).toMatchObject({ code: 'FQ_QUEUE_FULL' })
  })

  test('R25: whoever waits no longer than it may is told so, and one that only tries is', async () => {
    const { world, a } = await open(1)
    await world.cut(a)
    const running = await world.enter(a)
    const brief = await world.enter(a, 1, 2 * OUTAGE_MS)
    const trying = await world.enter(a, 1, 0)
    await world.advance(OUTAGE_MS)
    expect([running.runs, brief.waits, trying.ending]).toEqual([true, true, 'timedOut'])
    await world.advance(2 * OUTAGE_MS)
    expect(brief.ending).toBe('timedOut')
    const late = await world.enter(a, 1, 0)
    expect(late.ending).toBe('timedOut')
  })

  test('R25, R22: caps per key hold within the process, and others pass', async () => {
    const { world, a } = await open(1, { concurrency: 3, perKey: { concurrency: 1, maxQueueSize: 1 } })
    await world.cut(a)
    const tickets = [
      ...(await enterMany(world, a, 3, 'x')),
      ...(await enterMany(world, a, 1, 'y')),
      ...(await enterMany(world, a, 1, 'z')),
    ]
    await world.advance(OUTAGE_MS)
    expect(lettersOf(tickets)).toBe('rw.rr')
    expect(tickets[2]!.ticket.outcome).toMatchObject({ code: 'FQ_KEY_LIMIT' })
    await world.release(tickets[0]!)
    expect(lettersOf(tickets)).toBe('.r.rr')
    await world.mend(a)
    await world.settle()
    world.check()
  })

  test('R25: settings cannot be changed meanwhile, which is said at once', async () => {
    const { world, a } = await open(1)
    await world.cut(a)
    await enterMany(world, a, 1)
    await world.advance(OUTAGE_MS)
    await expect(a.queue.configure({ concurrency: 3 })).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
  })

  test('R25, R24: whoever takes up a place waits for the store, which alone can find it', async () => {
    const { world, a, b } = await open(2)
    const running = await world.enter(b)
    await world.settle()
    const [waiting] = await enterMany(world, b, 1)
    await world.settle()
    await world.cut(a)
    const alone = await world.enter(a)
    await world.resume(waiting!, a)
    await world.advance(OUTAGE_MS)
    expect(lettersOf([alone, waiting!])).toBe('rw')
    await world.release(alone)
    expect(waiting!.waits).toBe(true)
    await world.mend(a)
    await world.settle()
    await world.release(running)
    await world.settle()
    expect(waiting!.runs).toBe(true)
    world.check()
  })

  test('R25: a process that closes meanwhile gives up what it let in, and leaves nothing behind', async () => {
    const { world, a } = await open(1)
    await world.cut(a)
    const tickets = await enterMany(world, a, 2)
    await world.advance(OUTAGE_MS)
    const closed = a.queue.close({ graceMs: 0 })
    await world.advance(2 * storeTimeoutMs)
    await closed
    expect(tickets.map(({ ending }) => ending)).toEqual(['leaseLost', 'cancelled'])
    expect(a.clock.pending).toEqual({ foreground: 0, background: 0 })
  })
})
