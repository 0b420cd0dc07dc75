import type { FairQueue, Lease, Ticket } from '../../index.js'
import { queues, release, statesOf, type MakeWorld, type StoreWorld } from './world.js'
import { below, deepEqual, differs, equal, matches, throws } from '../assertions.js'
import { test } from '../suite.js'

const options = { concurrency: 1, maxWaitMs: '1m', leaseMs: '10m' } as const
const kept = { graceMs: 10_000, claimMs: 3000 } as const

interface Line {
  readonly world: StoreWorld
  readonly a: FairQueue
  readonly b: FairQueue
  /** Runs on `a`. */
  readonly lease: Lease
  /** Wait on `a`, in this order. */
  readonly waiting: readonly [Ticket, Ticket, Ticket]
}

/** Two instances; one ticket runs, three wait. */
async function openLine(makeWorld: MakeWorld): Promise<Line> {
  const world = makeWorld()
  const [a, b] = (await queues(world, 2, options)) as [FairQueue, FairQueue]
  const lease = await a.acquire()
  const waiting: Ticket[] = []
  for (let i = 0; i < 3; i += 1) {
    const ticket = a.enter({ key: 'me' })
    await world.settled()
    differs(ticket.id, null)
    waiting.push(ticket)
  }
  return { world, a, b, lease, waiting: waiting as [Ticket, Ticket, Ticket] }
}

/** Places whose client is gone, and comes back (R24). */
export function resumeTests(makeWorld: MakeWorld): void {
  test('a place that was left keeps its number, here and on another instance', async () => {
    const { world, a, b, lease, waiting } = await openLine(makeWorld)
    const [first, second, third] = waiting
    first.leave(10_000)
    second.leave(10_000)
    await world.settled()
    await world.advance(5000)
    const [firstAgain, secondAgain] = [b.resume(first.id!, { key: 'me' }), a.resume(second.id!, { key: 'me' })]
    await world.settled()
    deepEqual(statesOf([first, second, third]), ['moved', 'moved', 'waiting'])
    const inOrder: Ticket[] = []
    for (const queue of [a, b]) queue.on('granted', ({ ticket }) => inOrder.push(ticket))
    await lease.release()
    await world.settled()
    for (const ticket of [firstAgain, secondAgain, third]) {
      await release(ticket)
      await world.settled()
    }
    deepEqual(inOrder, [firstAgain, secondAgain, third])
    matches(await a.status(), { running: 0, waiting: 0 })
  })

  test('its turn passes it by while nobody is there; whoever comes back is the next', async () => {
    const { world, b, lease, waiting } = await openLine(makeWorld)
    const [first, second, third] = waiting
    first.leave(10_000)
    await world.settled()
    await lease.release()
    await world.settled()
    deepEqual(statesOf(waiting), ['waiting', 'granted', 'waiting'])
    const again = b.resume(first.id!, { key: 'me' })
    await world.settled()
    await release(second)
    await world.settled()
    deepEqual(statesOf([again, third]), ['granted', 'waiting'])
  })

  test('with a free permit it runs as soon as it is back', async () => {
    const { world, b, lease, waiting } = await openLine(makeWorld)
    const [first, second, third] = waiting
    first.leave(10_000)
    second.cancel()
    third.cancel()
    await lease.release()
    await world.settled()
    equal(first.state, 'waiting')
    const again = b.resume(first.id!, { key: 'me' })
    await world.settled()
    equal(again.state, 'granted')
    await release(again)
    await world.settled()
    matches(await b.status(), { running: 0, waiting: 0 })
  })

  test('a place for two permits takes two when it comes back into an empty queue', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { ...options, concurrency: 2 })) as [FairQueue, FairQueue]
    const lease = await a.acquire({ permits: 2 })
    const large = a.enter({ permits: 2 })
    await world.settled()
    large.leave(10_000)
    await world.settled()
    await lease.release()
    await world.settled()
    const again = b.resume(large.id!)
    await world.settled()
    const next = b.enter()
    await world.settled()
    deepEqual(statesOf([again, next]), ['granted', 'waiting'])
    await release(again)
    await release(next)
  })

  test('a place that is not taken up again in time is given up', async () => {
    const { world, a, b, waiting } = await openLine(makeWorld)
    const [first] = waiting
    first.leave(10_000)
    await world.settled()
    await world.advance(9990)
    equal(first.state, 'waiting')
    await world.advance(20)
    equal(first.state, 'cancelled')
    for (const queue of [a, b]) {
      const late = queue.resume(first.id!, { key: 'me' })
      await world.settled()
      matches(late.outcome, { code: 'FQ_PLACE_LOST', status: 410 })
    }
    matches(await a.status(), { waiting: 2 })
  })

  test('a place is found only by its whole id and with the key that it has', async () => {
    const { world, a, b, waiting } = await openLine(makeWorld)
    const { id } = waiting[0]
    const other = id!.slice(0, -1) + (id!.endsWith('A') ? 'B' : 'A')
    const wrong: [string, string | undefined][] = [
      [other, 'me'],
      [waiting[1].id!.slice(0, 17) + id!.slice(17), 'me'],
      [id!, 'you'],
      [id!, undefined],
      ['', 'me'],
      ['0', 'me'],
      [`${id} `, 'me'],
      ['1:2:3', 'me'],
      [id!.replace('.', ':'), 'me'],
    ]
    for (const queue of [a, b]) {
      for (const [text, key] of wrong) {
        const ticket = queue.resume(text, { key })
        await world.settled()
        matches([text, ticket.outcome], [text, { code: 'FQ_PLACE_LOST' }])
      }
    }
    deepEqual(statesOf(waiting), ['waiting', 'waiting', 'waiting'])
    throws(() => a.resume(7 as never), '"id"')
  })

  test('there is never a second ticket: who is still there loses the place to who comes with its id', async () => {
    const { world, a, b, waiting } = await openLine(makeWorld)
    const [first] = waiting
    const ended: unknown[] = []
    a.on('cancelled', ({ ticket }) => ended.push(ticket))
    const again = b.resume(first.id!, { key: 'me' })
    await world.settled()
    equal(first.state, 'moved')
    matches(first.outcome, { code: 'FQ_PLACE_LOST' })
    const third = a.resume(again.id!, { key: 'me' })
    const fourth = a.resume(again.id!, { key: 'me' })
    await world.settled()
    deepEqual(statesOf([again, third, fourth]), ['moved', 'moved', 'waiting'])
    deepEqual([again.id, third.id, fourth.id], [first.id, first.id, first.id])
    matches(await a.status(), { waiting: 3 })
    deepEqual(ended, [])
  })

  test('whoever runs, or has run, is not let in again', async () => {
    const { world, b, lease, waiting } = await openLine(makeWorld)
    const [first] = waiting
    const { id } = first
    await lease.release()
    await world.settled()
    equal(first.state, 'granted')
    const twice = b.resume(id!, { key: 'me' })
    await world.settled()
    matches(twice.outcome, { code: 'FQ_PLACE_LOST' })
    equal(first.state, 'granted')
    await release(first)
    await world.settled()
    const after = b.resume(id!, { key: 'me' })
    await world.settled()
    matches(after.outcome, { code: 'FQ_PLACE_LOST' })
  })

  test('it brings its permits along, and its wait counts from its arrival', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { ...options, concurrency: 2 })) as [FairQueue, FairQueue]
    const lease = await a.acquire({ permits: 2 })
    const left = a.enter({ permits: 2 })
    await world.settled()
    await world.advance(20_000)
    left.leave(30_000)
    await world.settled()
    await world.advance(20_000)
    const again = b.resume(left.id!)
    await world.settled()
    equal(again.permits, 2)
    below(Math.abs(again.waitedMs - 40_000), 50)
    await world.advance(19_000)
    equal(again.state, 'waiting')
    await world.advance(1100)
    matches(again.outcome, { code: 'FQ_WAIT_TIMEOUT' })
    await lease.release()
    await world.settled()
    matches(await b.status(), { running: 0, waiting: 0 })
  })

  test('its positions are those of the line: it stands where it stood', async () => {
    const { world, b, waiting } = await openLine(makeWorld)
    const [, second, third] = waiting
    third.leave(10_000)
    await world.settled()
    const again = b.resume(third.id!, { key: 'me' })
    await world.settled()
    equal(again.position, 3)
    second.cancel()
    await world.settled()
    await world.advance(1500)
    equal(again.position, 2)
  })

  test('a kept place is held when its turn comes, and whoever claims it runs at once', async () => {
    const { world, a, b, lease, waiting } = await openLine(makeWorld)
    const [first, second] = waiting
    first.keep(kept)
    await world.settled()
    await lease.release()
    await world.settled()
    deepEqual(statesOf([first, second]), ['reserved', 'waiting'])
    matches(await b.status(), { running: 1 })
    const granted: Ticket[] = []
    for (const queue of [a, b]) queue.on('granted', ({ ticket }) => granted.push(ticket))
    await world.advance(2500)
    const claim = b.resume(first.id!, { key: 'me' })
    await world.settled()
    deepEqual(statesOf([first, claim]), ['moved', 'granted'])
    deepEqual(granted, [claim])
    // From now on its lease is one like any other.
    await world.advance(30_000)
    equal(claim.state, 'granted')
    const twice = a.resume(first.id!, { key: 'me' })
    await world.settled()
    matches(twice.outcome, { code: 'FQ_PLACE_LOST' })
    await release(claim)
    await world.settled()
    equal(second.state, 'granted')
  })

  test('a turn that nobody claims goes to the next', async () => {
    const { world, a, b, lease, waiting } = await openLine(makeWorld)
    const [first, second] = waiting
    first.keep(kept)
    await world.settled()
    await lease.release()
    await world.settled()
    await world.advance(2990)
    deepEqual(statesOf([first, second]), ['reserved', 'waiting'])
    await world.advance(20)
    deepEqual(statesOf([first, second]), ['timedOut', 'granted'])
    const late = b.resume(first.id!, { key: 'me' })
    await world.settled()
    matches(late.outcome, { code: 'FQ_PLACE_LOST' })
    matches(await a.status(), { running: 1 })
  })

  test('a kept place is given up when nobody looks at it, and lives on as long as somebody does', async () => {
    const { world, a, b, waiting } = await openLine(makeWorld)
    const [first, second] = waiting
    const { id } = second
    first.keep(kept)
    second.keep(kept)
    await world.settled()
    const looks: Ticket[] = []
    for (let i = 0; i < 4; i += 1) {
      await world.advance(6000)
      const look = [a, b][i % 2]!.resume(id!, { key: 'me', kept })
      looks.push(look)
      await world.settled()
      equal(look.state, 'waiting')
      equal(look.position, i === 0 ? 2 : 1)
    }
    deepEqual(statesOf([first, ...looks]), ['cancelled', 'moved', 'moved', 'moved', 'waiting'])
  })

  test('to look at a turn that is held does not hold it for longer', async () => {
    const { world, b, lease, waiting } = await openLine(makeWorld)
    const [first, second] = waiting
    first.keep(kept)
    await world.settled()
    await lease.release()
    await world.settled()
    await world.advance(2000)
    const look = b.resume(first.id!, { key: 'me', kept })
    await world.settled()
    deepEqual(statesOf([first, look, second]), ['moved', 'reserved', 'waiting'])
    await world.advance(900)
    equal(look.state, 'reserved')
    await world.advance(200)
    deepEqual(statesOf([look, second]), ['timedOut', 'granted'])
  })

  test('who looks at a place tells where it stands, also when it has just come back', async () => {
    const { world, b, waiting } = await openLine(makeWorld)
    const [, , third] = waiting
    third.leave(10_000)
    await world.settled()
    const told: (number | null)[] = []
    const look = b.resume(third.id!, { key: 'me', kept })
    look.whenPlaced(() => told.push(look.position))
    await world.settled()
    look.whenPlaced(() => told.push(look.position))
    deepEqual(told, [3, 3])
    const nothing = b.resume('0', { kept })
    nothing.whenPlaced(() => told.push(nothing.position))
    await world.settled()
    deepEqual(told, [3, 3, null])
  })

  test('when the queue is switched off, places without a client end', async () => {
    const { world, a, lease, waiting } = await openLine(makeWorld)
    const [first, second, third] = waiting
    first.leave(10_000)
    second.keep(kept)
    await world.settled()
    await a.configure({ enabled: false })
    await world.settled()
    deepEqual(statesOf([first, second, third]), ['cancelled', 'cancelled', 'granted'])
    const passes = a.resume(first.id!, { key: 'me' })
    equal((await passes.granted).counted, false)
    await lease.release()
  })

  test('a queue that closes gives up the places without a client, and takes none up', async () => {
    const { world, a, b, lease, waiting } = await openLine(makeWorld)
    const [first, second, third] = waiting
    await lease.release()
    await world.settled()
    second.leave(60_000)
    third.keep(kept)
    await world.settled()
    const closed = a.close({ graceMs: 0 })
    await world.settled()
    await world.advance(1)
    await closed
    deepEqual(statesOf([first, second, third]), ['lost', 'cancelled', 'cancelled'])
    matches(a.resume(second.id!, { key: 'me' }).outcome, { code: 'FQ_DRAINING' })
    await world.settled()
    matches(await b.status(), { running: 0, waiting: 0 })
  })

  test('terms that make no sense are refused by name', async () => {
    const { a } = await openLine(makeWorld)
    throws(() => a.resume('0', { kept: { graceMs: 0, claimMs: 1 } }), '"kept.graceMs"')
    throws(() => a.resume('0', { kept: { graceMs: 1, claimMs: Number.NaN } }), '"kept.claimMs"')
    throws(() => a.resume('0', { permits: 2 } as never), '"permits"')
  })
}
