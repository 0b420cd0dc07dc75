import type { FairQueue, Ticket } from '../../index.js'
import { queues, release, type MakeWorld } from './world.js'
import { above, atMost, below, deepEqual, equal, matches } from '../assertions.js'
import { test } from '../suite.js'

export function positionTests(makeWorld: MakeWorld): void {
  test('B49: the first in the line see their exact position, count down, and see 0 when they are granted', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1h' })) as [FairQueue, FairQueue]
    const holder = a.enter()
    const tickets: Ticket[] = []
    const seen: (number | null)[][] = []
    for (let index = 0; index < 6; index += 1) {
      await world.settled()
      const positions: (number | null)[] = []
      const ticket = (index % 2 === 0 ? b : a).enter({
        onStatus: ({ position, state }) => positions.push(position === 0 && state !== 'granted' ? null : position),
      })
      tickets.push(ticket)
      seen.push(positions)
    }
    await world.advance(1500)
    deepEqual(
      tickets.map(({ position }) => position),
      [1, 2, 3, 4, 5, 6],
    )
    for (const ticket of [holder, ...tickets]) {
      await release(ticket)
      await world.advance(1500)
    }
    for (const [index, positions] of seen.entries()) {
      const countdown = Array.from({ length: index + 2 }, (_, step) => index + 1 - step)
      deepEqual(
        positions.filter((position, at) => position !== positions[at - 1]),
        countdown,
      )
      equal(positions.filter((position) => position === 0).length, 1)
    }
  })

  test('B49: positions of a long line are exact at its head, close behind it, and never rise', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 1, maxWaitMs: '1h' })
    let holder = instances[0]!.enter()
    await world.settled()
    const tickets: Ticket[] = []
    for (let wave = 0; wave < 20; wave += 1) {
      // Uneven shares of the line: what stands between two sampled tickets is not this instance's alone.
      for (let index = 0; index < 15; index += 1) tickets.push(instances[index % 5 === 0 ? 1 : 0]!.enter())
      await world.settled()
    }
    const shown = new Map<Ticket, number>()
    for (const ticket of tickets) {
      ticket.on('status', ({ position }) => {
        atMost(position, shown.get(ticket) ?? Infinity)
        shown.set(ticket, position!)
      })
    }
    await world.advance(1500)
    // Within one wave the store sees one instance's batch before the other's.
    for (const [index, ticket] of tickets.entries()) below(Math.abs(ticket.position! - (index + 1)), 16)
    const [mine] = [tickets.filter((_, index) => index % 5 === 0)]
    equal(new Set(mine.slice(0, 32).map(({ position }) => position)).size, 32)
    for (let step = 0; step < 40; step += 1) {
      const next = tickets.find(({ state }) => state === 'waiting')!
      await release(holder)
      await world.settled()
      holder = next.state === 'granted' ? next : tickets.find(({ state }) => state === 'granted')!
    }
    await world.advance(1500)
    const farOff = tickets.filter(
      ({ state, position }, index) => state === 'waiting' && Math.abs(position! - (index + 1 - 40)) > 15,
    )
    deepEqual(farOff, [])
  })

  test('B49: 500 arrivals in one moment from 3 instances all stand in the line, each in a place of its own', async () => {
    const world = makeWorld()
    const instances = await queues(world, 3, { concurrency: 0, maxWaitMs: '1h' })
    const tickets = Array.from({ length: 500 }, (_, index) => instances[index % 3]!.enter())
    await world.settled()
    matches(await instances[0]!.status(), { waiting: 500, running: 0 })
    const order: number[] = []
    for (const [index, ticket] of tickets.entries()) ticket.whenSettled(() => order.push(index))
    await instances[0]!.configure({ concurrency: Infinity })
    await world.settled()
    await world.advance(1500)
    deepEqual(
      order.toSorted((one, other) => one - other),
      tickets.map((_, index) => index),
    )
    // Of each instance in its own order.
    for (const own of [0, 1, 2]) {
      const mine = order.filter((index) => index % 3 === own)
      deepEqual(
        mine,
        mine.toSorted((one, other) => one - other),
      )
    }
  })

  test('B49: the estimate is null without a history, then finite and never negative', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 1, maxWaitMs: '1h' })
    const holder = queue.enter()
    const tickets = Array.from({ length: 10 }, () => queue.enter())
    const estimates: (number | null)[] = []
    for (const ticket of tickets) ticket.on('status', ({ etaMs }) => estimates.push(etaMs))
    await world.advance(2500)
    deepEqual(
      tickets.map(({ etaMs }) => etaMs),
      tickets.map(() => null),
    )
    await release(holder)
    for (const ticket of tickets.slice(0, 6)) {
      await world.advance(2000)
      await release(ticket)
    }
    await world.advance(2000)
    // One grant in two seconds, roughly; between two grants it counts down.
    const [next, thirdNext] = [tickets[7]!.etaMs!, tickets[9]!.etaMs!]
    below(next, 2500)
    above(thirdNext - next, 3000)
    below(thirdNext - next, 5000)
    deepEqual([tickets[6]!.state, tickets[6]!.position, tickets[6]!.etaMs], ['granted', 0, 0])
    for (const etaMs of estimates) equal(etaMs === null || (Number.isFinite(etaMs) && etaMs >= 0), true)
    above((await queue.status()).grantsPerSecond, 0)
  })

  test('at limit 0 the position stands and the estimate is unknown', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1h' })
    const ticket = queue.enter()
    await world.advance(5000)
    deepEqual([ticket.state, ticket.position, ticket.etaMs], ['waiting', 1, null])
  })

  test('those behind move up when those ahead give up', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 0, maxWaitMs: '1h' })
    const tickets = Array.from({ length: 5 }, () => queue.enter())
    const last = tickets[4]!
    await world.settled()
    equal(last.position, 5)
    tickets[0]!.cancel()
    tickets[2]!.cancel()
    await world.advance(1500)
    equal(last.position, 3)
    last.cancel()
    deepEqual([last.position, last.etaMs], [null, null])
  })
}
