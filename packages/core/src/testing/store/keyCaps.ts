import type { FairQueue, Ticket } from '../../index.js'
import { queues, release, statesOf, type MakeWorld, type StoreWorld } from './world.js'
import { deepEqual, equal, matches } from '../assertions.js'
import { test } from '../suite.js'

/** One ticket for each key, in this order; `-` for one without a key. On the instances in turn. */
async function enterKeys(world: StoreWorld, instances: readonly FairQueue[], keys: string): Promise<Ticket[]> {
  const tickets: Ticket[] = []
  for (const [index, key] of keys.split('').entries()) {
    tickets.push(instances[index % instances.length]!.enter(key === '-' ? {} : { key }))
    await world.settled()
  }
  return tickets
}

/** One letter for each ticket: `g` granted, `w` waiting, `r` released, … */
function lettersOf(tickets: readonly Ticket[]): string {
  return statesOf(tickets)
    .map((state) => state[0])
    .join('')
}

async function releaseAll(world: StoreWorld, tickets: readonly Ticket[]): Promise<void> {
  for (;;) {
    const running = tickets.filter(({ state }) => state === 'granted')
    if (running.length === 0) return
    for (const ticket of running) await release(ticket)
    await world.settled()
  }
}

/** R22: caps on the tickets of one key. */
export function keyCapsTests(makeWorld: MakeWorld): void {
  test('R22: no more tickets of one key run than its cap, over all instances, and others pass those that are parked', async () => {
    const world = makeWorld()
    const perKey = { concurrency: 2 }
    const instances = await queues(world, 2, { concurrency: 4, maxWaitMs: '1m', perKey })
    const tickets = await enterKeys(world, instances, 'aaaaabb')
    equal(lettersOf(tickets), 'ggwwwgg')
    matches(await instances[0]!.status(), { running: 4, waiting: 3, perKey: { concurrency: 2 } })
    // The place of another key is of no use to those.
    await release(tickets[5]!)
    await world.settled()
    equal(lettersOf(tickets), 'ggwwwrg')
    const other = (await enterKeys(world, instances, 'c'))[0]!
    equal(other.state, 'granted')
    await release(other)
    // That of one of their own goes to the first.
    await release(tickets[1]!)
    await world.settled()
    equal(lettersOf(tickets), 'grgwwrg')
    await releaseAll(world, [...tickets, other])
    matches(await instances[1]!.status(), { running: 0, waiting: 0, grants: 8 })
  })

  test('who stands before all others and may not run for its key holds up nobody, however many permits it needs', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, maxWaitMs: '1m' })
    const running = await queue.acquire({ key: 'a', permits: 2 })
    const large = queue.enter({ key: 'a', permits: 2 })
    await world.settled()
    const other = queue.enter({ key: 'b' })
    await world.settled()
    deepEqual(statesOf([large, other]), ['waiting', 'waiting'])
    await queue.configure({ perKey: { concurrency: 1 } })
    await world.settled()
    deepEqual(statesOf([large, other]), ['waiting', 'granted'])
    await running.release()
    await world.settled()
    equal(large.state, 'granted')
    await releaseAll(world, [large, other])
  })

  test('tickets without a key have no cap', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 5, perKey: { concurrency: 1, maxQueueSize: 0 } })
    equal(lettersOf(await enterKeys(world, [queue], '------')), 'gggggw')
  })

  test('keys of every kind have caps of their own', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 50, perKey: { concurrency: 1 } })
    const keys = [
      '',
      '~',
      ':',
      'a',
      'a:',
      'a:1:',
      'a:3:',
      '3',
      ':3:',
      'ä',
      '\ud800',
      'x'.repeat(200),
      '__proto__',
      'A b\n',
    ]
    const first = keys.map((key) => queue.enter({ key }))
    await world.settled()
    const second = keys.map((key) => queue.enter({ key }))
    await world.settled()
    deepEqual(new Set(statesOf(first)), new Set(['granted']))
    deepEqual(new Set(statesOf(second)), new Set(['waiting']))
    for (const ticket of first) await release(ticket)
    await world.settled()
    deepEqual(new Set(statesOf(second)), new Set(['granted']))
  })

  test('who was parked enters the line with its old number, before those who came after it', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 2, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, instances, 'aabcd')
    equal(lettersOf(tickets), 'gwgww')
    await release(tickets[0]!)
    await world.settled()
    equal(lettersOf(tickets), 'rggww')
  })

  test('a newcomer never passes one of its own key that is parked', async () => {
    const world = makeWorld()
    const instances = await queues(world, 3, { concurrency: 5, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, instances, 'aaa')
    const released = release(tickets[0]!)
    const newcomer = instances[0]!.enter({ key: 'a' })
    await released
    await world.settled()
    equal(lettersOf([...tickets, newcomer]), 'rgww')
    for (const expected of ['rrgw', 'rrrg']) {
      await release([...tickets, newcomer].find(({ state }) => state === 'granted')!)
      await world.settled()
      equal(lettersOf([...tickets, newcomer]), expected)
    }
  })

  test('within the cap a key waits in the line like everybody', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 1, maxWaitMs: '1m', perKey: { concurrency: 2 } })
    const tickets = await enterKeys(world, instances, 'xaabab')
    const order: number[] = []
    for (const [index, ticket] of tickets.entries()) ticket.whenSettled(() => order.push(index))
    await releaseAll(world, tickets)
    deepEqual(order, [0, 1, 2, 3, 4, 5])
  })

  test.each(['cancel', 'time-out', 'signal', 'close'] as const)(
    'one of the line that ends by %s makes room for the next of its key',
    async (how) => {
      const world = makeWorld()
      const [a, b] = (await queues(world, 2, { concurrency: 1, maxWaitMs: '1h', perKey: { concurrency: 1 } })) as [
        FairQueue,
        FairQueue,
      ]
      const [holder] = (await enterKeys(world, [a], 'x')) as [Ticket]
      const signal = new AbortController()
      const inLine = b.enter({ key: 'a', signal: signal.signal, maxWaitMs: how === 'time-out' ? 500 : '1h' })
      await world.settled()
      const tickets = await enterKeys(world, [a], 'ab')
      if (how === 'cancel') inLine.cancel()
      else if (how === 'signal') signal.abort()
      else if (how === 'close') await b.close()
      else await world.advance(600)
      await world.settled()
      await release(holder)
      await world.settled()
      equal(lettersOf(tickets), 'gw')
    },
  )

  test('one that is parked may give up, also the first, and the order of the others stays', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 3, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, instances, 'aaaaa')
    tickets[1]!.cancel()
    tickets[3]!.cancel()
    await world.settled()
    matches(await instances[0]!.status(), { waiting: 2 })
    await release(tickets[0]!)
    await world.settled()
    equal(lettersOf(tickets), 'rcgcw')
    await release(tickets[2]!)
    await world.settled()
    equal(lettersOf(tickets), 'rcrcg')
  })

  test('the end of a lease makes room for the next of its key', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, leaseMs: 1000, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, [queue], 'aa')
    await world.advance(1100)
    equal(lettersOf(tickets), 'lg')
  })

  test('a raised cap lets in whom it allows, a lowered one nobody until enough have left', async () => {
    const world = makeWorld()
    const [a, b] = (await queues(world, 2, { concurrency: 6, maxWaitMs: '1m', perKey: { concurrency: 1 } })) as [
      FairQueue,
      FairQueue,
    ]
    const tickets = await enterKeys(world, [a, b], 'aaaaaaab')
    equal(lettersOf(tickets), 'gwwwwwwg')
    await b.configure({ perKey: { concurrency: 3 } })
    await world.settled()
    equal(lettersOf(tickets), 'gggwwwwg')
    await a.configure({ perKey: { concurrency: 2 } })
    await world.settled()
    await release(tickets[0]!)
    await world.settled()
    equal(lettersOf(tickets), 'rggwwwwg')
    await release(tickets[1]!)
    await world.settled()
    equal(lettersOf(tickets), 'rrggwwwg')
    // None runs at 0.
    await a.configure({ perKey: { concurrency: 0 } })
    await world.settled()
    for (const ticket of tickets.slice(2, 4)) await release(ticket)
    await world.settled()
    equal(lettersOf(tickets), 'rrrrwwwg')
    equal(lettersOf(await enterKeys(world, [b], 'c-')), 'wg')
    // And without a cap all that the limit allows.
    await a.configure({ perKey: {} })
    await world.settled()
    equal(lettersOf(tickets), 'rrrrgggg')
    matches(await b.status(), { waiting: 0, running: 6, perKey: { concurrency: Infinity } })
  })

  test('a lowered cap counts for those in the line too: others pass them, and they keep their order', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 2, maxWaitMs: '1m' })
    const tickets = await enterKeys(world, instances, 'aaaabbab')
    equal(lettersOf(tickets), 'ggwwwwww')
    await instances[0]!.configure({ perKey: { concurrency: 1 } })
    await world.settled()
    await release(tickets[0]!)
    await world.settled()
    // The other one of `a` still runs.
    equal(lettersOf(tickets), 'rgwwgwww')
    await release(tickets[1]!)
    await world.settled()
    equal(lettersOf(tickets), 'rrgwgwww')
    const order: number[] = []
    for (const [index, ticket] of tickets.entries())
      if (ticket.state === 'waiting') ticket.whenSettled(() => order.push(index))
    await releaseAll(world, tickets)
    deepEqual(
      order.filter((index) => 'aaaabbab'[index] === 'a'),
      [3, 6],
    )
    deepEqual(
      order.filter((index) => 'aaaabbab'[index] === 'b'),
      [5, 7],
    )
  })

  test("an operator's cap wins over the one in code, until it is cleared", async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 9, maxWaitMs: '1m', perKey: { concurrency: 1, maxQueueSize: 7 } })
    await world.settled()
    const record = await queue.configure({ perKey: { concurrency: 2 } }, { by: 'Ann' })
    deepEqual(record.values.perKey, { concurrency: 2, maxQueueSize: Infinity })
    deepEqual(record.operator, { perKey: { concurrency: 2, maxQueueSize: Infinity } })
    const tickets = await enterKeys(world, [queue], 'aaa')
    equal(lettersOf(tickets), 'ggw')
    deepEqual((await queue.configure({ perKey: null })).values.perKey, { concurrency: 1, maxQueueSize: 7 })
    matches(await queue.status(), { perKey: { concurrency: 1, maxQueueSize: 7 }, operator: {} })
  })

  test('instances whose caps in code differ are told', async () => {
    const world = makeWorld()
    const older = await world.queue({ concurrency: 1, perKey: { concurrency: 1 } })
    const conflicts: unknown[] = []
    older.on('configConflict', (conflict) => conflicts.push(conflict))
    const holder = await older.acquire()
    await world.queue({ concurrency: 1, perKey: { concurrency: 1, maxQueueSize: 5 } })
    await world.settled()
    older.enter()
    await world.advance(10_000)
    equal(conflicts.length, 1)
    await holder.release()
  })

  test('more of one key than may wait are refused with 429, and what they are told helps', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, {
      concurrency: 3,
      maxWaitMs: '1m',
      perKey: { concurrency: 1, maxQueueSize: 2 },
    })
    const tickets = await enterKeys(world, instances, 'aaaab-')
    equal(lettersOf(tickets), 'gwwrgg')
    matches(tickets[3]!.outcome, { name: 'KeyLimitError', code: 'FQ_KEY_LIMIT', status: 429 })
    // Those in the line count like those that are parked.
    const others = await enterKeys(world, instances, '-ccc')
    equal(lettersOf(others), 'wwwr')
    // One that gives up makes room, one that starts too.
    tickets[1]!.cancel()
    await world.settled()
    equal(lettersOf(await enterKeys(world, instances, 'aa')), 'wr')
    await release(tickets[0]!)
    await world.settled()
    equal(lettersOf([tickets[2]!, ...others]), 'gwwwr')
    await instances[1]!.configure({ perKey: { concurrency: 1, maxQueueSize: 3 } })
    await world.settled()
    equal(lettersOf(await enterKeys(world, instances, 'aaa')), 'wwr')
  })

  test('of many that come in one tick as many are taken as the caps allow', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 10, maxWaitMs: '1m', perKey: { concurrency: 2, maxQueueSize: 3 } })
    const tickets = 'aaaaaaabababab'.split('').map((key) => queue.enter({ key }))
    await world.settled()
    equal(lettersOf(tickets), 'ggwwwrrgrgrwrw')
  })

  test('at 0 a key has no line, and who cannot run at once is refused', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 2, perKey: { concurrency: 1, maxQueueSize: 0 } })
    equal(lettersOf(await enterKeys(world, [queue], 'aab-c')), 'grgwr')
  })

  test('those that are parked count for the length of the line', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 2, maxQueueSize: 3, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, [queue], 'aaaaab-')
    equal(lettersOf(tickets), 'gwwwrgr')
    matches(tickets[6]!.outcome, { code: 'FQ_QUEUE_FULL' })
  })

  test('positions count all that wait, by arrival, and never rise', async () => {
    const world = makeWorld()
    const instances = await queues(world, 2, { concurrency: 2, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, instances, 'aaabcb')
    const shown = tickets.map((): (number | null)[] => [])
    for (const [index, ticket] of tickets.entries()) ticket.on('status', ({ position }) => shown[index]!.push(position))
    await world.advance(1500)
    equal(lettersOf(tickets), 'gwwgww')
    deepEqual(
      tickets.map(({ position }) => position),
      [0, 1, 2, 0, 3, 4],
    )
    await release(tickets[3]!)
    await world.advance(1500)
    equal(lettersOf(tickets), 'gwwrgw')
    deepEqual(
      tickets.map(({ position }) => position),
      [0, 1, 2, 0, 0, 3],
    )
    await releaseAll(world, tickets)
    for (const positions of shown)
      deepEqual(
        positions,
        [...positions].toSorted((one, other) => other! - one!),
      )
  })

  test('permits of one that is parked are asked for when its turn comes', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const first = queue.enter({ key: 'a' })
    const wide = queue.enter({ key: 'a', permits: 3 })
    const other = queue.enter({ key: 'b' })
    await world.settled()
    equal(lettersOf([first, wide, other]), 'gwg')
    await release(first)
    await world.settled()
    // It is the head now, and the head is not overtaken.
    const late = queue.enter({ key: 'c' })
    await world.settled()
    equal(lettersOf([wide, other, late]), 'wgw')
    await release(other)
    await world.settled()
    equal(lettersOf([wide, late]), 'gw')
  })

  test('one that is parked and needs more than a lowered limit ends with 503', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, maxWaitMs: '1m', perKey: { concurrency: 1 } })
    const first = queue.enter({ key: 'a' })
    const wide = queue.enter({ key: 'a', permits: 3 })
    const next = queue.enter({ key: 'a' })
    await world.settled()
    await queue.configure({ concurrency: 2 })
    await world.settled()
    equal(lettersOf([first, wide, next]), 'gfw')
    await release(first)
    await world.settled()
    equal(next.state, 'granted')
  })

  test('a queue that is switched off lets those pass that stand aside', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 3, maxWaitMs: '1h', perKey: { concurrency: 1 } })
    const tickets = await enterKeys(world, [queue], 'aaa')
    await queue.configure({ enabled: false })
    await world.advance(1200)
    equal(lettersOf(tickets), 'ggg')
    await queue.configure({ enabled: true })
    await world.advance(1200)
    equal(lettersOf(await enterKeys(world, [queue], 'ab')), 'wg')
  })
}
