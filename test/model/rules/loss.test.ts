import type { FairQueueOptions } from '@fairqueue/core'
import { describe, expect, test, vi } from 'vitest'
import { useRedis } from '../../kit/clients.js'
import { times, type ModelProcess } from '../process.js'
import type { ModelTicket } from '../promises.js'
import { argumentsOf, type KeyName } from '../server.js'
import { World } from '../world.js'

const { livenessMs, pollIntervalMs, storeTimeoutMs, leaseMs } = times
const redis = useRedis()

function names(tickets: readonly { readonly name?: string; readonly key?: string }[]): (string | undefined)[] {
  return tickets.map(({ name, key }) => name ?? key)
}

/** A runs one ticket, B and A have one waiting each. */
async function oneRunsTwoWait(options: Partial<FairQueueOptions> = {}) {
  const world = await World.on(redis, options)
  const [a, b] = await world.startAll(2)
  const running = await world.enter(a)
  await world.settle()
  const first = await world.enter(b)
  await world.settle()
  const second = await world.enter(a)
  await world.settle()
  return { world, a, b, running, first, second }
}

describe('forgotten, or lost memory', () => {
  test('R14: whoever was forgotten loses what it ran, and its waiting tickets come back with their old numbers', async () => {
    const { world, a, b, running, first, second } = await oneRunsTwoWait()
    const last = await world.enter(b)
    await world.settle()
    world.freeze(a)
    await world.advance(livenessMs + 100)
    expect(names(world.server.snapshot.running)).toEqual([first.name])
    expect(names(world.server.snapshot.waiting)).toEqual([last.name])
    await world.thaw(a)
    await world.settle()
    expect(running.ending).toBe('leaseLost')
    expect(names(world.server.snapshot.waiting)).toEqual([second.name, last.name])
  })

  test('R14: after a loss of memory what runs and what waits come back, and a batch under way follows under a new number', async () => {
    const { world, b, running, first, second } = await oneRunsTwoWait()
    await world.flushAll()
    const newcomer = await world.enter(b)
    await world.settle()
    await world.advance(livenessMs)
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    expect(names(world.server.snapshot.waiting)).toEqual(names([first, second, newcomer]))
    expect(running.runs).toBe(true)
  })

  test('R14: whoever comes past its time is forgotten, also if nobody has swept it away yet', async () => {
    const world = await World.on(redis)
    const [a, b] = await world.startAll(2)
    const running = await world.enter(a)
    await world.settle()
    world.freeze(a)
    // Changes of settings break the silence and sweep nothing.
    for (const maxQueueSize of [5, 6, 7]) {
      await world.advance(livenessMs * 0.4, { flows: false })
      await world.configure(b, { maxQueueSize })
      await world.talk(b)
    }
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    await world.thaw(a)
    await world.settle()
    expect(running.ending).toBe('leaseLost')
    expect(names(world.server.snapshot.running)).toEqual([])
  })

  test.each<KeyName>(['waiting', 'running', 'instances', 'state'])(
    'R15: the loss of the key "%s" alone is noticed, and no ticket of it is',
    async (name) => {
      const { world, running, first, second } = await oneRunsTwoWait()
      await world.deleteKey(name)
      await world.advance(livenessMs)
      expect(names(world.server.snapshot.running)).toEqual([running.name])
      expect(names(world.server.snapshot.waiting)).toEqual(names([first, second]))
      await world.release(running)
      await world.settle()
      expect(first.runs).toBe(true)
    },
  )

  test('R15: a server that comes back with an old memory is known by its identity', async () => {
    const { world, running, first, second } = await oneRunsTwoWait()
    await world.dump()
    await world.release(running)
    await world.settle()
    expect(first.runs).toBe(true)
    await world.restartFromDump()
    await world.settle()
    await world.advance(livenessMs)
    // The one that has ended may stand there until its instance has looked.
    expect(first.runs).toBe(true)
    expect(names(world.server.snapshot.waiting)).toEqual([second.name])
    world.check()
  })

  test('R15: a newcomer who is the first to call a server with an old memory is not let in beside those who run', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    await world.release(await letIn(world, a))
    await world.settle()
    await world.dump()
    const running = await letIn(world, a)
    await world.restartFromDump()
    const fresh = world.start()
    const early = await world.enter(fresh)
    await world.talk(fresh)
    expect([running.runs, early.waits]).toEqual([true, true])
    await world.settle()
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    world.check()
  })

  test('R15: a late message from before a restart is not taken for another one', async () => {
    const { world, a } = await oneRunsTwoWait()
    await world.configure(a, { maxQueueSize: 5 })
    await world.settle()
    const change = world.executedCalls.findLast(({ script }) => script.name === 'configure')!
    await world.dump()
    await world.restartFromDump()
    await world.advance(livenessMs)
    const { epoch } = world.server.snapshot
    await world.executeCopy(change)
    expect(world.server.snapshot.epoch).toBe(epoch)
  })

  test('R15: where the identity is not to be had, a gap in the batches tells', async () => {
    const { world, a, b, running, first, second } = await oneRunsTwoWait({ leaseMs: '1m' })
    for (const { pipes } of [a, b]) pipes.serverRun = ''
    await world.cut(a)
    await world.cut(b)
    await world.mend(a)
    await world.mend(b)
    await world.settle()
    const restore = await world.server.dump()
    await world.release(running)
    await world.settle()
    expect(first.runs).toBe(true)
    // Long enough for two batches of everybody.
    await world.advance(livenessMs * 0.8)
    await restore()
    world.watch.lost({ everything: false })
    const newcomer = await world.enter(b)
    await world.settle()
    await world.advance(livenessMs)
    expect(names(world.server.snapshot.running)).toEqual([first.name])
    expect([second.waits, newcomer.waits]).toEqual([true, true])
    // A gap is found once: nobody has to come back twice.
    expect(world.executedCalls.filter(({ script }) => script.name === 'rejoin')).toHaveLength(2)
  })

  test.each<KeyName>(['running', 'instances', 'state'])(
    'R15: a grant whose reply was lost just before the key "%s" was holds when it is heard',
    async (name) => {
      const world = await World.on(redis)
      const [a, b] = await world.startAll(2)
      const granted = await world.enter(a)
      await world.execute(a, { stays: true })
      await world.deleteKey(name)
      const other = await world.enter(b)
      await world.settle()
      await world.advance(livenessMs)
      expect([granted.runs, other.waits]).toEqual([true, true])
      expect(names(world.server.snapshot.running)).toEqual([granted.name])
    },
  )

  test('R15: a place in the line whose reply was lost just before the line was is kept when it is heard', async () => {
    const { world, a, first, second } = await oneRunsTwoWait()
    const c = world.start()
    await world.settle()
    const third = await world.enter(c)
    await world.execute(c, { stays: true })
    await world.deleteKey('waiting')
    const fourth = await world.enter(a)
    await world.settle()
    await world.advance(livenessMs)
    expect(names(world.server.snapshot.waiting)).toEqual(names([first, second, third, fourth]))
  })

  test('R16: whoever has heard that another has come, and not yet who, does not say that all are back', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    const running = await world.enter(a)
    await world.settle()
    const b = world.start()
    const waiting = await world.enter(b)
    await world.talk(b)
    await world.hint(a)
    await world.flushAll()
    await world.talk(a)
    await world.release(running)
    const late = await world.enter(a)
    await world.talk(a)
    expect([late.runs, waiting.waits]).toEqual([false, true])
    await world.advance(livenessMs + 20)
    expect([waiting.runs, late.waits]).toEqual([true, true])
  })

  test('R16: in a grace nothing is granted, newcomers wait without a number, and releases and settings apply', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    world.kill(a)
    await world.deleteKey('waiting')
    await world.advance(pollIntervalMs * 1.1)
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    const newcomer = await world.enter(b)
    await world.configure(b, { concurrency: 3 })
    await world.settle()
    expect([first.waits, newcomer.waits]).toEqual([true, true])
    expect(names(world.server.snapshot.waiting)).toEqual([first.name])
    expect(world.server.snapshot.limit).toBe(3)
    await world.cancel(first)
    await world.settle()
    expect(names(world.server.snapshot.waiting)).toEqual([])
    await world.advance(livenessMs)
    expect(newcomer.runs).toBe(true)
  })

  test('R16: a grace ends when all are back whom the returning ones knew, and not before', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.flushAll()
    await world.advance(livenessMs / 3 + 10, { flows: false })
    await world.talk(b)
    await world.talk(b)
    expect(names(world.server.snapshot.running)).toEqual([])
    const newcomer = await world.enter(b)
    await world.talk(b)
    expect(newcomer.waits).toBe(true)
    expect(names(world.server.snapshot.waiting)).toEqual([first.name])
    await world.talk(a)
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    await world.release(running)
    await world.settle()
    expect(first.runs).toBe(true)
  })

  test('R16: a late copy of what was sent before the loss does not stand for the return of its instance', async () => {
    const world = await World.on(redis)
    const [a, b] = await world.startAll(2)
    const running = await world.enter(a)
    await world.settle()
    const acquire = world.executedCalls.findLast(({ from }) => from === a.pipes)!
    const waiting = await world.enter(b)
    await world.settle()
    await world.flushAll()
    await world.executeCopy(acquire)
    await world.advance(livenessMs / 3 + 10, { flows: false })
    await world.talk(b)
    await world.talk(b)
    expect([running.runs, waiting.waits]).toEqual([true, true])
    expect(names(world.server.snapshot.running)).toEqual([])
    await world.talk(a)
    await world.settle()
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    await world.release(running)
    await world.settle()
    expect(waiting.runs).toBe(true)
    world.check()
  })

  test('R16: whoever has nothing to bring back is back with its second word, at once', async () => {
    const { world, a, b, running, first, second } = await oneRunsTwoWait()
    await world.cancel(first)
    await world.settle()
    await world.flushAll()
    await world.advance(livenessMs / 3 + 10, { flows: false })
    await world.talk(a)
    await world.talk(a)
    await world.release(running)
    await world.settle()
    expect(second.waits).toBe(true)
    await world.enter(b)
    await world.settle()
    expect(second.runs).toBe(true)
  })

  test('R16: those who are back from one grace have yet to come back from the next', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.deleteKey('waiting')
    await world.settle()
    await world.advance(pollIntervalMs * 1.1)
    await world.cancel(first)
    await world.settle()
    await world.deleteKey('instances')
    // A notices and comes back later; B knows nobody whom to await.
    await world.release(running)
    await world.execute(a)
    const other = await world.enter(b)
    await world.talk(b)
    expect(other.waits).toBe(true)
    await world.settle()
    world.check()
  })

  test('R16: whoever has never been told who else there is does not end a grace', async () => {
    const world = await World.on(redis)
    const [a, b] = await world.startAll(2)
    const running = await world.enter(a)
    await world.settle()
    world.freeze(a)
    const waiting = await world.enter(b)
    // Its first answer is lost, and with it the list of all instances.
    await world.execute(b, { stays: true })
    await world.deleteKey('instances')
    await world.settle()
    expect([running.runs, waiting.waits]).toEqual([true, true])
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    await world.thaw(a)
    await world.settle()
    world.check()
  })

  test('R16: a second loss within a grace lets nobody forget who was awaited in the first', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.flushAll()
    await world.enter(b)
    await world.talk(b)
    await world.deleteKey('waiting')
    await world.advance(pollIntervalMs * 1.1, { flows: false })
    await world.talk(b)
    await world.talk(b)
    expect([running.runs, first.waits]).toEqual([true, true])
    await world.talk(a)
    await world.settle()
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    world.check()
  })

  test('R16: also when the first to notice the next loss has no tickets', async () => {
    const { world, b, running, first } = await oneRunsTwoWait()
    await world.deleteKey('waiting')
    await world.settle()
    await world.advance(pollIntervalMs * 1.1)
    await world.cancel(first)
    await world.settle()
    await world.deleteKey('instances')
    const other = await world.enter(b)
    await world.talk(b)
    expect([running.runs, other.waits]).toEqual([true, true])
    await world.settle()
    world.check()
  })

  test('R16: somebody who has only just come is awaited too', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait({ concurrency: 1 })
    await world.cancel(first)
    await world.settle()
    await world.configure(a, { concurrency: 2 })
    await world.settle()
    const second = world.promises.running.find(({ name }) => name !== running.name)!
    await world.release(second)
    const c = world.start()
    const newcomer = await world.enter(c)
    await world.settle()
    expect(newcomer.runs).toBe(true)
    await world.flushAll()
    await world.advance(livenessMs / 3 + 10, { flows: false })
    const next = await world.enter(b)
    await world.talk(a)
    await world.talk(b)
    expect(next.waits).toBe(true)
    await world.settle()
    world.check()
  })

  test('R16: a ticket that tries once and meets a grace has ended, and is not asked for when the grace is over', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    await world.deleteKey('waiting')
    const tried = await world.enter(a, 1, 0)
    await world.settle()
    expect(tried.ending).toBe('timedOut')
    await world.advance(2 * livenessMs)
    expect(world.server.snapshot.running).toEqual([])
    world.check()
  })

  test('R16: a ticket that a grace has held is not refused as unanswered when it asks again', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    await world.deleteKey('waiting')
    const held = await world.enter(a)
    await world.settle()
    await world.advance(livenessMs - 1)
    expect(held.waits).toBe(true)
    const newcomer = await world.enter(a)
    await world.advance(storeTimeoutMs * 0.7, { flows: false })
    await world.execute(a)
    await world.answer(a)
    // The newcomer's deadline is near when the held one is sent.
    expect(argumentsOf(a.pipes.requests[0]!).rest[0]).toContain(held.name)
    await world.advance(storeTimeoutMs * 0.4, { flows: false })
    expect([held.ending, newcomer.ending]).toEqual([undefined, undefined])
  })

  test('R16: what is left of an instance that died before it could come back is given away when the grace is over', async () => {
    const { world, a, first } = await oneRunsTwoWait()
    world.kill(a)
    await world.deleteKey('instances')
    await world.advance(livenessMs + pollIntervalMs * 1.1)
    expect(first.runs).toBe(true)
    expect(names(world.server.snapshot.waiting)).toEqual([])
  })

  test('R16: whoever was cut off meanwhile cannot know who has come, and ends no grace early', async () => {
    const world = await World.on(redis, { concurrency: 2, leaseMs: '10m' })
    const [a, b] = await world.startAll(2)
    const first = await letIn(world, a)
    await world.cut(a)
    const c = world.start()
    const second = await letIn(world, c)
    await world.mend(a)
    await world.flushAll()
    await world.talk(a)
    const newcomer = await world.enter(b)
    await world.talk(b)
    await world.talk(a)
    await world.talk(b)
    expect([first.runs, second.runs, newcomer.waits]).toEqual([true, true, true])
    await world.settle()
    world.check()
  })

  test('R16: a grace in which Redis fell silent goes on, since nobody could come back', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.flushAll()
    await world.advance(pollIntervalMs * 1.1, { flows: false })
    await world.talk(b)
    await world.advance(livenessMs, { flows: false })
    await world.talk(b)
    expect(first.waits).toBe(true)
    await world.talk(a)
    await world.settle()
    expect([running.runs, first.waits]).toEqual([true, true])
    world.check()
  })

  test('R17: the first ticket of a queue that Redis does not know is granted in its first exchange', async () => {
    const world = await World.on(redis)
    const a = world.start()
    const first = await world.enter(a)
    await world.execute(a)
    await world.answer(a)
    expect(first.runs).toBe(true)
  })

  test('R17: after a loss that nothing tells of a fresh process may run work beside the survivors, until one of them calls', async () => {
    const { world, a, running, first, second } = await oneRunsTwoWait()
    await world.flushAll()
    const fresh = world.start()
    const early = await world.enter(fresh)
    await world.talk(fresh)
    expect([running.runs, early.runs]).toEqual([true, true])
    await world.advance(livenessMs / 3 + 10)
    const late = await world.enter(fresh)
    await world.settle()
    await world.release(early)
    await world.advance(livenessMs)
    expect([running.runs, first.waits, second.waits, late.waits]).toEqual([true, true, true, true])
    expect(a.awake).toBe(true)
  })

  test('R18: a rejoin refuses nobody, though the line is full now', async () => {
    const { world, b, first, second } = await oneRunsTwoWait()
    await world.configure(b, { maxQueueSize: 1 })
    await world.settle()
    await world.flushAll()
    await world.advance(livenessMs)
    expect(names(world.server.snapshot.waiting)).toEqual(names([first, second]))
    expect((await ask(world, b)).maxQueueSize).toBe(1)
  })

  test('R23: settings that are made anew after a loss reach those who knew as many changes before it', async () => {
    const world = await World.on(redis)
    const [a, b] = await world.startAll(2)
    await world.configure(a, { concurrency: 5 })
    await world.settle()
    expect(a.queue.settings.concurrency).toBe(5)
    world.kill(b)
    await world.flushAll()
    const fresh = world.start()
    await world.talk(fresh)
    await world.configure(fresh, { concurrency: 3 })
    await world.talk(fresh)
    const ticket = await world.enter(a)
    await world.settle()
    await world.advance(livenessMs)
    expect([ticket.runs, a.queue.settings.concurrency]).toEqual([true, 3])
  })

  test('R18: a rejoin that is sent twice leaves a ticket running that was granted in between', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.flushAll()
    await world.advance(pollIntervalMs * 1.1, { flows: false })
    await world.talk(a)
    await world.execute(b)
    await world.answer(b)
    await world.advance(livenessMs * 0.4, { flows: false })
    await world.talk(a)
    expect(b.pipes.requests[0]!.script.name).toBe('rejoin')
    await world.execute(b, { stays: true })
    await world.advance(livenessMs * 0.4, { flows: false })
    await world.talk(a)
    await world.advance(livenessMs * 0.3, { flows: false })
    // The grace is over, and B has not heard that it is back.
    await world.release(running)
    await world.talk(a)
    expect(names(world.server.snapshot.running)).toEqual([first.name])
    await world.execute(b)
    expect(names(world.server.snapshot.running)).toEqual([first.name])
    await world.answer(b)
    await world.settle()
    expect(first.runs).toBe(true)
    world.check()
  })

  test('R18: a late copy of a rejoin brings nobody back who has ended since', async () => {
    const { world, a, running, first } = await oneRunsTwoWait()
    await world.flushAll()
    await world.advance(livenessMs)
    const rejoin = world.executedCalls.findLast(({ script, from }) => script.name === 'rejoin' && from === a.pipes)!
    await world.release(running)
    await world.settle()
    await world.executeCopy(rejoin)
    expect(names(world.server.snapshot.running)).toEqual([first.name])
  })

  test('R18: a running ticket comes back with its permits and with what is left of its lease', async () => {
    const world = await World.on(redis, { concurrency: 2 })
    const [a, b] = await world.startAll(2)
    const running = await world.enter(a, 2)
    await world.advance(livenessMs / 2)
    await world.flushAll()
    await world.advance(livenessMs)
    const other = await world.enter(b)
    await world.settle()
    expect([running.runs, other.waits]).toEqual([true, true])
    const [member] = world.server.snapshot.running
    const endsAtMs = Number(await world.server.command('ZSCORE', 'fairqueue:{q}:running', member!.text))
    expect(endsAtMs - world.time.nowMs).toBeLessThanOrEqual(leaseMs - livenessMs * 1.5)
  })

  test.each([
    { made: 1, known: 2, limit: 3 },
    { made: 2, known: 1, limit: 5 },
  ])(
    'R18: settings of version $made that a fresh process has made meet a survivor who knows version $known: the higher one counts',
    async ({ made, known, limit }) => {
      const { world, b } = await oneRunsTwoWait()
      for (let version = 1; version <= known; version += 1) await world.configure(b, { concurrency: 3 })
      await world.settle()
      await world.flushAll()
      const fresh = world.start()
      await world.talk(fresh)
      for (let version = 1; version <= made; version += 1) await world.configure(fresh, { concurrency: 5 })
      await world.talk(fresh)
      await world.advance(livenessMs)
      expect(world.server.snapshot.limit).toBe(limit)
    },
  )

  test('R19: when Redis was silent for long, the first who calls does not take all others for dead', async () => {
    const { world, a, b, running, first } = await oneRunsTwoWait()
    await world.advance(livenessMs * 1.1, { flows: false })
    await world.talk(b)
    expect(names(world.server.snapshot.running)).toEqual([running.name])
    await world.talk(a)
    await world.settle()
    expect([running.runs, first.waits]).toEqual([true, true])
    world.check()
  })

  test("R19: the store's time does not run backwards with the server's clock", async () => {
    const { world, a, first } = await oneRunsTwoWait()
    world.kill(a)
    world.jump(-3_600_000)
    await world.advance(livenessMs + pollIntervalMs * 1.1)
    expect(first.runs).toBe(true)
  })

  test('R20: an instance without tickets falls silent, and comes back as one that joins', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    const first = await world.enter(a)
    await world.settle()
    await world.release(first)
    await world.settle()
    const calls = world.executedCalls.length
    await world.advance(3 * livenessMs)
    expect(world.executedCalls).toHaveLength(calls)
    const again = await world.enter(a)
    await world.settle()
    expect(again.runs).toBe(true)
    expect(world.executedCalls.map(({ script }) => script.name)).not.toContain('rejoin')
  })

  test('R20: also when others have lived on meanwhile', async () => {
    const world = await World.on(redis, { concurrency: 2, leaseMs: '1m' })
    const [a, b] = await world.startAll(2)
    await world.release(await letIn(world, a))
    await letIn(world, b)
    await world.advance(3 * livenessMs)
    expect(world.server.snapshot.instances.has(a.id)).toBe(false)
    const again = await world.enter(a)
    await world.talk(a)
    expect(again.runs).toBe(true)
    expect(world.executedCalls.map(({ script }) => script.name)).not.toContain('rejoin')
  })

  test('R20: a state that has expired while nobody needed it is no loss', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    await world.release(await letIn(world, a))
    await world.advance(60 * 60_000)
    await world.server.command('FLUSHALL')
    world.time.forget()
    const again = await world.enter(a)
    await world.talk(a)
    expect(again.runs).toBe(true)
  })

  test('R20: the life of the keys is renewed', async () => {
    const { world, b } = await oneRunsTwoWait()
    world.jump(20 * 60_000)
    await world.enter(b)
    await world.settle()
    expect(await world.server.expiresAtMs('state')).toBeGreaterThan(world.time.nowMs + 10 * 60_000)
  })

  test('R20: all keys expire together, later than any lease and any wait', async () => {
    const { world } = await oneRunsTwoWait()
    const keys: KeyName[] = ['waiting', 'running', 'instances', 'state']
    const ends = await Promise.all(keys.map((name) => world.server.expiresAtMs(name)))
    expect(new Set(ends).size).toBe(1)
    const longestWaitMs = 10 * 60_000
    expect(ends[0]).toBeGreaterThan(world.time.nowMs + longestWaitMs)
  })
})

describe('settings', () => {
  test('R23: the code of the instance that started last counts, whatever an older one does', async () => {
    const world = await World.on(redis)
    const [old] = await world.startAll(1, { concurrency: 1 })
    world.start({ concurrency: 2 })
    await world.settle()
    expect(world.server.snapshot.limit).toBe(2)
    await letIn(world, old)
    await world.advance(livenessMs)
    expect(world.server.snapshot.limit).toBe(2)
    await world.deleteKey('running')
    await world.advance(livenessMs)
    expect(world.executedCalls.map(({ script }) => script.name)).toContain('rejoin')
    expect(world.server.snapshot.limit).toBe(2)
  })

  test('R23: a change by an operator is told to every instance with its next exchange, once', async () => {
    const world = await World.on(redis, { concurrency: 3 })
    const all = await world.startAll(3)
    const [a, b, c] = all
    for (const process of all) await letIn(world, process)
    await world.advance(livenessMs / 3 - 100)
    await world.configure(a, { concurrency: 5 })
    await world.talk(a)
    expect(a.queue.settings.concurrency).toBe(5)
    await world.hint(b)
    await world.talk(b)
    expect(b.queue.settings.concurrency).toBe(5)
    // This one does not hear of it before it has to prove that it lives.
    c.pipes.hints.length = 0
    expect(c.queue.settings.concurrency).toBe(3)
    await world.advance(livenessMs / 3)
    expect(c.queue.settings.concurrency).toBe(5)
    const told = vi.fn<(payload: unknown) => void>()
    for (const { queue } of all) queue.on('settingsChanged', told)
    for (const process of all) await world.enter(process)
    await world.advance(livenessMs)
    expect(told).not.toHaveBeenCalled()
  })

  test("R23: an operator's settings that come back with a rejoin are told to whoever did not know them", async () => {
    const { world, b, running } = await oneRunsTwoWait()
    await world.configure(b, { concurrency: 2 })
    await world.settle()
    await world.flushAll()
    const fresh = world.start()
    await world.talk(fresh)
    expect(fresh.queue.settings.concurrency).toBe(1)
    await world.advance(livenessMs)
    await world.enter(fresh)
    await world.settle()
    expect([fresh.queue.settings.concurrency, running.runs]).toEqual([2, true])
  })

  test('R23: settings of a version that the store has already do not come back with a rejoin', async () => {
    const { world, b } = await oneRunsTwoWait()
    await world.configure(b, { concurrency: 3 })
    await world.settle()
    await world.flushAll()
    const fresh = world.start()
    await world.talk(fresh)
    await world.configure(fresh, { concurrency: 5 })
    await world.talk(fresh)
    await world.advance(livenessMs)
    expect(world.executedCalls.map(({ script }) => script.name)).toContain('rejoin')
    expect(world.server.snapshot.limit).toBe(5)
    expect([b.queue.settings.concurrency, fresh.queue.settings.concurrency]).toEqual([5, 5])
  })
})

/** A ticket that runs. */
async function letIn(world: World, process: ModelProcess): Promise<ModelTicket<ModelProcess>> {
  const ticket = await world.enter(process)
  await world.settle()
  expect(ticket.runs).toBe(true)
  return ticket
}

/** The queue as a process sees it. */
async function ask(world: World, { queue }: ModelProcess) {
  const status = queue.status()
  await world.settle()
  return await status
}
