import type { ScriptCall } from '@fairqueue/test/kit/chaosClient'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test, vi } from 'vitest'

const redis = useRedis()

const options = { concurrency: 1, maxWaitMs: '1h', onStoreError: 'closed' } as const

async function twoProcesses(): Promise<[VirtualRedis, VirtualProcess, VirtualProcess]> {
  const world = new VirtualRedis(redis)
  return [world, await world.process(), await world.process()]
}

/** Only the next exchange. */
function once<Fate>(fate: Fate): (call: ScriptCall) => Fate | 'deliver' {
  let used = false
  return ({ name }) => {
    if (used || name !== 'exchange') return 'deliver'
    used = true
    return fate
  }
}

/** An instance without tickets says nothing: what it says shows what it wrongly believes to hold. */
async function expectSilence(world: VirtualRedis, ...processes: VirtualProcess[]): Promise<void> {
  await world.settled()
  const before = processes.map(({ client }) => client.calls.length)
  await world.advance(30_000)
  expect(processes.map(({ client }) => client.calls.length)).toEqual(before)
}

describe('a call in doubt', () => {
  test.each(['loseReply', 'resend', 'fail'] as const)(
    'an acquire that meets "%s" stands in the line once',
    async (fate) => {
      const [world, a, b] = await twoProcesses()
      const holder = await a.queue(options).acquire()
      const queue = b.queue(options)
      await world.settled()
      b.client.fate = once(fate)
      const ticket = queue.enter()
      await world.advance(200)
      expect([ticket.state, ticket.position]).toEqual(['waiting', 1])
      expect(await queue.status()).toMatchObject({ running: 1, waiting: 1 })
      await holder.release()
      await world.settled()
      expect(await queue.status()).toMatchObject({ running: 1, waiting: 0 })
    },
  )

  test('an acquire that is never answered fails in time, and what becomes of it later is undone', async () => {
    const [world, a, b] = await twoProcesses()
    const holder = await a.queue(options).acquire()
    const queue = b.queue(options)
    await world.settled()
    b.client.fate = once('swallow')
    const ticket = queue.enter()
    await world.advance(1100)
    expect(ticket.state).toBe('failed')
    expect(await queue.status()).toMatchObject({ running: 1, waiting: 0 })
    await holder.release()
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
  })

  test.each(['loseReply', 'resend', 'fail', 'swallow'] as const)(
    'B01: a release that meets "%s" gives its permit back once',
    async (fate) => {
      const [world, a, b] = await twoProcesses()
      const lease = await a.queue({ ...options, concurrency: 2 }).acquire()
      const queue = b.queue({ ...options, concurrency: 2 })
      const other = await queue.acquire()
      const waiters = [queue.enter(), queue.enter()]
      await world.settled()
      a.client.fate = once(fate)
      const released = lease.release()
      await world.advance(2500)
      expect(await released).toBe('released')
      expect(waiters.map(({ state }) => state)).toEqual(['granted', 'waiting'])
      expect(await queue.status()).toMatchObject({ running: 2, waiting: 1 })
      await other.release()
    },
  )

  test('a grant that comes after its ticket was given up is given back', async () => {
    const [world, a, b] = await twoProcesses()
    const queue = b.queue(options)
    await world.settled()
    b.client.fate = () => 'holdReply'
    const ticket = queue.enter()
    await world.advance(1100)
    expect(ticket.state).toBe('failed')
    expect(ticket.outcome).toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
    const next = a.queue(options).enter()
    await world.settled()
    expect(next.state).toBe('waiting')
    b.client.fate = () => 'deliver'
    b.client.releaseCalls()
    await world.settled()
    expect(next.state).toBe('granted')
    await (await next.granted).release()
    await expectSilence(world, a, b)
  })

  test('the order of a batch in doubt is kept: what comes later waits behind it', async () => {
    const [world, a, b] = await twoProcesses()
    const holder = await a.queue(options).acquire()
    const queue = b.queue(options)
    await world.settled()
    b.client.fate = once('fail')
    const first = queue.enter()
    await new Promise((resolve) => setImmediate(resolve))
    const second = queue.enter()
    await world.advance(200)
    await holder.release()
    await world.settled()
    expect([first.state, second.state]).toEqual(['granted', 'waiting'])
  })

  test('a change of settings whose answer is lost has let in whom it lets in', async () => {
    const [world, a, b] = await twoProcesses()
    const [mine, theirs] = [a.queue({ ...options, concurrency: 0 }), b.queue({ ...options, concurrency: 0 })]
    const tickets = [mine.enter(), theirs.enter()]
    await world.settled()
    // The script is known to the server by now.
    await theirs.configure({ maxQueueSize: 9 })
    a.client.fate = ({ name }) => (name === 'configure' ? 'loseReply' : 'deliver')
    await expect(mine.configure({ concurrency: 2 })).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
    await world.advance(1100)
    expect(tickets.map(({ state }) => state)).toEqual(['granted', 'granted'])
    expect(mine.settings.concurrency).toBe(2)
  })

  test('a late copy of a batch that was answered long ago changes nothing', async () => {
    const [world, a, b] = await twoProcesses()
    const queue = b.queue(options)
    await world.settled()
    b.client.fate = once('repeat')
    await (await queue.acquire()).release()
    await world.settled()
    b.client.releaseCalls()
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
    const ticket = a.queue(options).enter()
    await world.settled()
    expect(ticket.state).toBe('granted')
  })

  test('a late copy of a rejoin brings nothing back that has ended meanwhile', async () => {
    const [world, a, b] = await twoProcesses()
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    const lease = await mine.acquire()
    const ticket = mine.enter()
    await world.settled()
    await redis.client().flushall()
    a.client.fate = ({ name }) => (name === 'rejoin' ? 'repeat' : 'deliver')
    await world.advance(15_000)
    expect(a.client.calls.filter(({ name, how }) => name === 'rejoin' && how === 'evalsha')).toHaveLength(1)
    expect(await theirs.status()).toMatchObject({ running: 1, waiting: 1 })
    a.client.fate = () => 'deliver'
    ticket.cancel()
    await lease.release()
    await (await mine.acquire()).release()
    await world.settled()
    a.client.releaseCalls()
    await world.settled()
    expect(await theirs.status()).toMatchObject({ running: 0, waiting: 0 })
    const next = theirs.enter()
    await world.settled()
    expect(next.state).toBe('granted')
  })
})

describe('a hint that overtakes the reply to its own acquire', () => {
  /** b's ticket runs by a hint, the reply to its acquire is held back. */
  async function overtaken(more: object = {}) {
    const [world, a, b] = await twoProcesses()
    const holder = await a.queue(options).acquire()
    const queue = b.queue({ ...options, ...more })
    await world.settled()
    b.client.fate = () => 'holdReply'
    const ticket = queue.enter()
    await world.settled()
    await holder.release()
    await world.settled()
    return { world, a, b, queue, ticket }
  }

  test('grants the ticket; the late reply changes nothing', async () => {
    const { world, b, queue, ticket } = await overtaken()
    expect(ticket.state).toBe('granted')
    b.client.fate = () => 'deliver'
    b.client.releaseCalls()
    await world.settled()
    expect([ticket.state, ticket.position]).toEqual(['granted', 0])
    expect(await queue.status()).toMatchObject({ running: 1, waiting: 0, local: { running: 1, waiting: 0 } })
  })

  test('grants for good: a reply that is overdue does not take it back', async () => {
    const { world, b, ticket, queue } = await overtaken()
    const failed = vi.fn<(payload: unknown) => void>()
    queue.on('failed', failed)
    await world.advance(2500)
    expect(ticket.state).toBe('granted')
    expect(failed).not.toHaveBeenCalled()
    const lease = await ticket.granted
    b.client.fate = () => 'deliver'
    b.client.releaseCalls()
    expect(await queue.status()).toMatchObject({ running: 1 })
    expect(await lease.release()).toBe('released')
    await world.settled()
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
  })

  test('leaves no trace when the work is done before the reply comes', async () => {
    const { world, a, b, ticket, queue } = await overtaken()
    const lease = await ticket.granted
    const released = lease.release()
    b.client.fate = () => 'deliver'
    b.client.releaseCalls()
    expect(await released).toBe('released')
    await world.settled()
    expect(ticket.state).toBe('released')
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0 })
    await expectSilence(world, a, b)
  })

  test('is work that runs: a store that is lost before the reply gets it back', async () => {
    const { world, a, b, queue, ticket } = await overtaken()
    await redis.client().flushall()
    b.client.fate = () => 'deliver'
    await world.advance(1100)
    expect(ticket.state).toBe('granted')
    const other = a.queue(options).enter()
    await world.advance(15_000)
    expect([ticket.state, other.state]).toEqual(['granted', 'waiting'])
    expect(await queue.status()).toMatchObject({ running: 1, waiting: 1 })
    await (await ticket.granted).release()
    await world.settled()
    expect(other.state).toBe('granted')
  })

  test('but is too old to be acted on leaves the ticket in its place, counted once', async () => {
    const [world, a, b] = await twoProcesses()
    const holder = await a.queue(options).acquire()
    const queue = b.queue({ ...options, storeTimeoutMs: '20s' })
    await world.settled()
    b.client.fate = () => 'holdReply'
    const ticket = queue.enter()
    await world.advance(8500)
    await holder.release()
    await world.settled()
    expect(ticket.state).toBe('waiting')
    b.client.fate = () => 'deliver'
    b.client.releaseCalls()
    await world.settled()
    expect(ticket.state).toBe('granted')
    await (await ticket.granted).release()
    await expectSilence(world, a, b)
  })
})

describe('hints', () => {
  test('that come twice, late or for nobody start nothing and hold nothing', async () => {
    const [world, a, b] = await twoProcesses()
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    const holder = await mine.acquire()
    const ticket = theirs.enter()
    await world.settled()
    b.client.subscriber.fate = () => 'double'
    await holder.release()
    await world.settled()
    expect(ticket.state).toBe('granted')
    const hint = b.client.subscriber.messages.at(-1)!
    await (await ticket.granted).release()
    const next = mine.enter()
    await world.settled()
    expect(next.state).toBe('granted')
    for (let copies = 0; copies < 30; copies += 1) b.client.subscriber.inject(hint)
    await world.settled()
    expect(await mine.status()).toMatchObject({ running: 1, waiting: 0 })
    expect(await theirs.status()).toMatchObject({ local: { running: 0, waiting: 0 } })
  })

  test('of another epoch start nothing', async () => {
    const [world, a, b] = await twoProcesses()
    await a.queue(options).acquire()
    const ticket = b.queue(options).enter()
    await world.settled()
    const [waiting = ''] = await redis.client().zrange('fairqueue:{q}:waiting', 0, '0')
    const instance = waiting.split(':')[1]!
    b.client.subscriber.inject(`${instance} 0000000000000001 ${waiting}/9999999999999999`)
    await world.settled()
    expect(ticket.state).toBe('waiting')
  })

  test('that are garbage are ignored', async () => {
    const [world, a, b] = await twoProcesses()
    const [mine, theirs] = [a.queue(options), b.queue(options)]
    const errors = vi.fn<(payload: unknown) => void>()
    theirs.on('error', errors)
    const holder = await mine.acquire()
    const first = theirs.enter()
    await world.settled()
    await holder.release()
    await world.settled()
    const [id = '', epoch = '', grant = ''] = b.client.subscriber.messages.at(-1)!.split(' ')
    await (await first.granted).release()
    await mine.acquire()
    const ticket = theirs.enter()
    await world.settled()
    const [member = '', fence = ''] = grant.split('/')
    const garbage = ['', ' ', '{}', id, `${id} ${epoch} x`, `${id} ${epoch} ,,,`, `${id} ${epoch} ${member}`]
    for (const message of [...garbage, `${id} ${epoch} ${member}/x`, `${id} ${epoch} /${fence}`, 'x'.repeat(300_000)]) {
      b.client.subscriber.inject(message)
    }
    await world.settled()
    expect(ticket.state).toBe('waiting')
    expect(errors).not.toHaveBeenCalled()
    expect(await mine.status()).toMatchObject({ running: 1, waiting: 1 })
  })
})
