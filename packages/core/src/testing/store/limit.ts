import type { FairQueue, Ticket } from '../../index.js'
import { grantedOf, queues, release, statesOf, type MakeWorld } from './world.js'
import { deepEqual, equal, matches, rejects } from '../assertions.js'
import { test } from '../suite.js'

export function limitTests(makeWorld: MakeWorld): void {
  test('no more run than the limit allows, over all instances', async () => {
    const world = makeWorld()
    const instances = await queues(world, 3, { concurrency: 2, maxWaitMs: '1m' })
    const tickets = Array.from({ length: 12 }, (_, index) => instances[index % 3]!.enter())
    await world.settled()
    for (let left = 12; left > 0; left -= 1) {
      equal(grantedOf(tickets), Math.min(2, left))
      matches(await instances[0]!.status(), { running: Math.min(2, left), waiting: Math.max(0, left - 2) })
      await release(tickets.find(({ state }) => state === 'granted')!)
      await world.settled()
    }
    deepEqual(
      statesOf(tickets),
      Array.from({ length: 12 }, () => 'released'),
    )
    matches(await instances[2]!.status(), { running: 0, waiting: 0, grants: 12 })
  })

  test('the line is served in the order of arrival across instances', async () => {
    const world = makeWorld()
    const instances = await queues(world, 3, { concurrency: 1, maxWaitMs: '1m' })
    const holder = await instances[0]!.acquire()
    const order: number[] = []
    const tickets: Ticket[] = []
    for (let index = 0; index < 9; index += 1) {
      const ticket = instances[[0, 0, 1, 2, 1, 1, 2, 0, 2][index]!]!.enter()
      ticket.whenSettled(() => order.push(index))
      tickets.push(ticket)
      await world.settled()
    }
    await holder.release()
    for (const ticket of tickets) {
      await world.settled()
      await release(ticket)
    }
    deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('a newcomer does not overtake a waiter even when permits are free', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 3, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire({ permits: 2 })
    const wide = a.enter({ permits: 3 })
    await world.settled()
    const narrow = b.enter()
    await world.settled()
    deepEqual(statesOf([wide, narrow]), ['waiting', 'waiting'])
    await holder.release()
    await world.settled()
    deepEqual(statesOf([wide, narrow]), ['granted', 'waiting'])
    await release(wide)
    await world.settled()
    deepEqual(statesOf([wide, narrow]), ['released', 'granted'])
  })

  test('a freed permit goes to the next ticket in the same store operation: a newcomer in the same tick comes too late', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire()
    const next = b.enter()
    await world.settled()
    const released = holder.release()
    const newcomer = a.enter()
    await released
    await world.settled()
    deepEqual(statesOf([next, newcomer]), ['granted', 'waiting'])
  })

  test('a release lets in as many as its permits allow', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 4, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire({ permits: 4 })
    const tickets = [a.enter(), b.enter({ permits: 2 })]
    await world.settled()
    tickets.push(a.enter(), b.enter())
    await world.settled()
    await holder.release()
    await world.settled()
    deepEqual(statesOf(tickets), ['granted', 'granted', 'granted', 'waiting'])
    matches(await b.status(), { running: 4, free: 0, waiting: 1 })
  })

  test('more permits than the limit are refused at the door with 400', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3 })
    await rejects(queue.acquire({ permits: 4 }), {
      code: 'FQ_PERMITS_EXCEED_LIMIT',
      status: 400,
    })
    matches(await queue.status(), { running: 0, waiting: 0 })
  })

  test('a waiter that needs more than a lowered limit ends with 503 and blocks nobody', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 4, maxWaitMs: '1m' })) as [FairQueue, FairQueue]
    const holder = await a.acquire({ permits: 2 })
    const wide = b.enter({ permits: 4 })
    await world.settled()
    const narrow = a.enter({ permits: 2 })
    await world.settled()
    await a.configure({ concurrency: 3 })
    await world.settled()
    equal(wide.state, 'failed')
    await rejects(wide.granted, { code: 'FQ_PERMITS_EXCEED_LIMIT', status: 503 })
    await holder.release()
    await world.settled()
    equal(narrow.state, 'granted')
    matches(await a.status(), { running: 2, waiting: 0 })
  })

  test('at limit 0 everybody waits, whatever permits they need', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1m' })
    const tickets = [queue.enter({ permits: 5 }), queue.enter()]
    await world.settled()
    deepEqual(statesOf(tickets), ['waiting', 'waiting'])
    await queue.configure({ concurrency: 6 })
    await world.settled()
    deepEqual(statesOf(tickets), ['granted', 'granted'])
  })

  test('without a limit everybody runs at once', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: Infinity })
    const tickets = Array.from({ length: 700 }, () => queue.enter())
    await world.settled()
    equal(grantedOf(tickets), 700)
    matches(await queue.status(), { running: 700, free: Infinity })
  })

  test('fences grow with every grant, over all instances', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 1, maxWaitMs: '1m' })
    const fences: number[] = []
    const tickets: Ticket[] = []
    for (let index = 0; index < 6; index += 1) {
      tickets.push(instances[index % 2]!.enter())
      await world.settled()
    }
    for (const ticket of tickets) {
      const lease = await ticket.granted
      fences.push(lease.fence)
      await lease.release()
      await world.settled()
    }
    deepEqual(
      fences,
      fences.toSorted((one, other) => one - other),
    )
    equal(new Set(fences).size, 6)
  })
}
