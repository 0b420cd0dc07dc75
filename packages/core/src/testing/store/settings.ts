import type { FairQueue, Logger, Ticket } from '../../index.js'
import { grantedOf, queues, release, statesOf, type MakeWorld } from './world.js'
import { deepEqual, equal, matches, rejects } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

const NONE = { concurrency: Infinity, maxQueueSize: Infinity }

export function settingsTests(makeWorld: MakeWorld): void {
  test('B10: a limit raised, lowered, closed and opened again lets in exactly whom it allows, on whichever instance', async () => {
    const world = makeWorld()
    const [a, b, operator] = (await queues(world, 3, { concurrency: 2, maxWaitMs: '1h' })) as [
      FairQueue,
      FairQueue,
      FairQueue,
    ]
    const tickets: Ticket[] = []
    for (let index = 0; index < 7; index += 1) {
      tickets.push((index % 2 === 0 ? a : b).enter())
      await world.settled()
    }
    equal(grantedOf(tickets), 2)

    await operator.configure({ concurrency: 5 })
    await world.settled()
    deepEqual(statesOf(tickets), [
      ...Array.from({ length: 5 }, () => 'granted'),
      ...Array.from({ length: 2 }, () => 'waiting'),
    ])

    await operator.configure({ concurrency: 1 })
    await world.settled()
    equal(grantedOf(tickets), 5)
    matches(await a.status(), { concurrency: 1, running: 5, free: 0, waiting: 2 })
    for (const ticket of tickets.slice(0, 3)) await release(ticket)
    await world.settled()
    equal(grantedOf(tickets), 2)

    await operator.configure({ concurrency: 3 })
    await world.settled()
    deepEqual(statesOf(tickets.slice(3)), ['granted', 'granted', 'granted', 'waiting'])

    await operator.configure({ concurrency: 0 })
    await world.settled()
    for (const ticket of tickets.slice(3, 6)) await release(ticket)
    const late = a.enter({ maxWaitMs: '30s' })
    await world.advance(30_100)
    equal(tickets[6]!.state, 'waiting')
    equal(late.state, 'timedOut')
    matches(await b.status(), { concurrency: 0, running: 0, free: 0, waiting: 1 })

    await operator.configure({ concurrency: 2 })
    await world.settled()
    equal(tickets[6]!.state, 'granted')
    matches(await b.status(), { concurrency: 2, running: 1, free: 1, waiting: 0 })
  })

  test('a change is in force on every instance and says what it was', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    await world.settled()
    const changed = spy<(payload: unknown) => void>()
    b.on('settingsChanged', changed)
    const record = await a.configure({ concurrency: 4, maxWaitMs: '5s', leaseMs: '1m', maxQueueSize: 7 }, { by: 'Ann' })
    deepEqual(record, {
      values: { concurrency: 4, maxWaitMs: 5000, leaseMs: 60_000, maxQueueSize: 7, enabled: true, perKey: NONE },
      operator: { concurrency: 4, maxWaitMs: 5000, leaseMs: 60_000, maxQueueSize: 7 },
      version: 1,
      by: 'Ann',
    })
    await (await b.acquire()).release()
    await world.settled()
    deepEqual(b.settings, record.values)
    deepEqual(changed.calls.at(-1), [record])
    matches(await b.status(), { ...record.values, operator: record.operator, version: 1, by: 'Ann' })
  })

  test("B11: an operator's value survives instances that start with the value in code, until it is cleared", async () => {
    const world = makeWorld()
    const first = await world.queue({ concurrency: 5 })
    await world.settled()
    await first.configure({ concurrency: 20 })
    const second = await world.queue({ concurrency: 5 })
    await (await second.acquire()).release()
    await world.settled()
    matches(await second.status(), { concurrency: 20, version: 1 })
    await first.close()
    const restarted = await world.queue({ concurrency: 6 })
    await (await restarted.acquire()).release()
    await world.settled()
    equal(restarted.settings.concurrency, 20)
    const record = await second.configure({ concurrency: null })
    matches(record, { values: { concurrency: 6 }, operator: {}, version: 2 })
  })

  test('B11: a change that is based on an old version is refused and changes nothing', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1 })) as [FairQueue, FairQueue]
    await world.settled()
    matches(await a.configure({ concurrency: 2 }, { ifVersion: 0, by: 'Ann' }), { version: 1, by: 'Ann' })
    await rejects(b.configure({ concurrency: 9 }, { ifVersion: 0 }), {
      code: 'FQ_CONFLICT',
      status: 409,
      version: 1,
    })
    matches(await b.status(), { concurrency: 2, version: 1, by: 'Ann' })
    matches(await b.configure({ maxQueueSize: 3 }, { ifVersion: 1 }), { version: 2, by: null })
  })

  test('values that no operator has set come from the code of the instance that started last', async () => {
    const world = makeWorld()
    const first = await world.queue({ concurrency: 5, maxQueueSize: 10 })
    await world.settled()
    const second = await world.queue({ concurrency: 8, maxQueueSize: 10 })
    await world.settled()
    const record = await first.configure({ maxQueueSize: 3 })
    matches(record.values, { concurrency: 8, maxQueueSize: 3 })
    matches(await second.status(), { concurrency: 8, maxQueueSize: 3 })
    matches((await first.configure({ maxQueueSize: null })).values, { concurrency: 8, maxQueueSize: 10 })
  })

  test('an instance whose settings in code differ from those in force is told once', async () => {
    const world = makeWorld()
    const older = await world.queue({ concurrency: 5 })
    const conflicts = spy<(payload: unknown) => void>()
    older.on('configConflict', conflicts)
    const ticket = older.enter()
    await world.settled()
    await world.queue({ concurrency: 8 })
    await world.settled()
    await world.advance(10_000)
    equal(conflicts.calls.length, 1)
    matches(conflicts.calls[0]![0], { declared: { concurrency: 5 }, inForce: { concurrency: 8 } })
    equal(older.settings.concurrency, 8)
    await world.queue({ concurrency: 9 })
    await world.settled()
    await world.advance(10_000)
    equal(conflicts.calls.length, 1)
    await release(ticket)
  })

  test('instances with the same settings in code have no conflict', async () => {
    const world = makeWorld()
    const warn = spy<Logger['warn']>()
    const [a, b] = (await queues(world, 2, { concurrency: 5, logger: { warn } })) as [FairQueue, FairQueue]
    const conflicts = spy<(payload: unknown) => void>()
    a.on('configConflict', conflicts)
    b.on('configConflict', conflicts)
    await a.configure({ concurrency: 3 })
    await (await b.acquire()).release()
    await world.settled()
    deepEqual(conflicts.calls, [])
    deepEqual(warn.calls, [])
  })

  test('a queue that is not enabled lets everybody pass uncounted, until it is enabled again', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxQueueSize: 0 })) as [FairQueue, FairQueue]
    const counted = await a.acquire()
    await world.settled()
    await b.configure({ enabled: false })
    await world.settled()
    const uncounted = [await a.acquire(), await a.acquire(), await b.acquire()]
    deepEqual(
      uncounted.map((lease) => [lease.counted, lease.fence]),
      [
        [false, 0],
        [false, 0],
        [false, 0],
      ],
    )
    matches(await a.status(), { enabled: false, running: 1 })
    await b.configure({ enabled: true })
    await world.advance(1200)
    await rejects(a.acquire(), { code: 'FQ_QUEUE_FULL' })
    for (const lease of uncounted) equal(await lease.release(), 'released')
    await counted.release()
    await world.settled()
    matches(await b.status(), { enabled: true, running: 0 })
  })

  test('a queue that is switched off lets its waiters pass', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1h' })) as [FairQueue, FairQueue]
    const holder = await a.acquire()
    const waiters = [a.enter(), b.enter(), b.enter()]
    await world.settled()
    await a.configure({ enabled: false })
    await world.advance(1200)
    deepEqual(statesOf(waiters), ['granted', 'granted', 'granted'])
    equal((await waiters[1]!.granted).counted, false)
    await world.settled()
    matches(await b.status(), { running: 1, waiting: 0 })
    for (const ticket of waiters) await release(ticket)
    await holder.release()
    await world.settled()
    matches(await b.status(), { running: 0, waiting: 0, local: { running: 0, waiting: 0 } })
  })

  test("an operator's maxWaitMs caps what callers ask for", async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1h' })
    await queue.configure({ maxWaitMs: 1000 })
    const tickets = [queue.enter({ maxWaitMs: '1m' }), queue.enter(), queue.enter({ maxWaitMs: 300 })]
    await world.advance(400)
    deepEqual(statesOf(tickets), ['waiting', 'waiting', 'timedOut'])
    await world.advance(700)
    deepEqual(statesOf(tickets), ['timedOut', 'timedOut', 'timedOut'])
  })

  test('a changed leaseMs counts for those granted from then on', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 2, leaseMs: 1000 })
    const before = queue.enter()
    await world.settled()
    await queue.configure({ leaseMs: 5000 })
    const after = queue.enter()
    await world.advance(1100)
    deepEqual(statesOf([before, after]), ['lost', 'granted'])
    await world.advance(4000)
    equal(after.state, 'lost')
  })
}
