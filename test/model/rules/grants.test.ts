import { describe, expect, test } from 'vitest'
import { useRedis } from '../../kit/clients.js'
import { times } from '../process.js'
import { World } from '../world.js'

const { livenessMs, pollIntervalMs, leaseMs } = times
const redis = useRedis()

/** A runs, B waits. */
async function oneRunsOneWaits() {
  const world = await World.on(redis)
  const [a, b] = await world.startAll(2)
  const running = await world.enter(a)
  await world.settle()
  const waiting = await world.enter(b)
  await world.settle()
  return { world, a, b, running, waiting }
}

describe('learning of a grant', () => {
  test('R9: a ticket whose hint was lost runs after the next poll', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.release(running)
    await world.talk(a)
    b.pipes.hints.length = 0
    expect(waiting.waits).toBe(true)
    await world.advance(pollIntervalMs * 1.1)
    expect(waiting.runs).toBe(true)
  })

  test('R9: the end of a lease is waited for, though nobody publishes it', async () => {
    const { world, a, running, waiting } = await oneRunsOneWaits()
    await world.advance(leaseMs - livenessMs + 100)
    world.kill(a)
    await world.advance(livenessMs - 200)
    expect([running.runs, waiting.waits]).toEqual([true, true])
    await world.advance(120)
    expect(waiting.runs).toBe(true)
  })

  test('R10: a hint that overtakes the reply to its own acquire grants it', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.cancel(waiting)
    await world.settle()
    const early = await world.enter(b)
    await world.execute(b)
    await world.release(running)
    await world.talk(a)
    await world.hint(b)
    expect(early.runs).toBe(true)
    await world.answer(b)
    await world.settle()
    expect(early.runs).toBe(true)
    world.check()
  })

  test('R10: one that overtakes it and has ended before it comes is not let in again', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.cancel(waiting)
    await world.settle()
    const early = await world.enter(b)
    await world.execute(b)
    await world.release(running)
    await world.talk(a)
    await world.hint(b)
    await world.release(early)
    await world.answer(b)
    await world.settle()
    expect([early.ending, world.server.snapshot.running]).toEqual(['released', []])
    await world.advance(livenessMs)
    const calls = world.executedCalls.length
    await world.advance(livenessMs)
    expect(world.executedCalls).toHaveLength(calls)
  })

  test('R10: a grant of a ticket that has ended is given back at once and goes to the next', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    const next = await world.enter(a)
    await world.settle()
    await world.release(running)
    await world.talk(a)
    await world.cancel(waiting)
    await world.hint(b)
    await world.settle()
    expect([waiting.ending, next.runs]).toEqual(['cancelled', true])
  })

  test('R10: the hint of a grant to a ticket that its instance does not know is given back at once', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.cancel(waiting)
    await world.settle()
    const unknown = `${'2'.repeat(16)}:${b.id}:zz.1:1:unknown`
    await world.server.command('ZADD', 'fairqueue:{q}:waiting', 2, unknown)
    await world.release(running)
    await world.talk(a)
    expect(world.server.snapshot.running.map(({ key }) => key)).toEqual(['unknown'])
    await world.settle()
    expect(world.server.snapshot.running).toEqual([])
  })

  test('R11: a poll that was executed before a grant and answered after it does not end the lease', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.advance(pollIntervalMs * 1.1, { flows: false })
    expect(b.pipes.requests).toHaveLength(1)
    await world.execute(b)
    await world.release(running)
    await world.talk(a)
    await world.hint(b)
    expect(waiting.runs).toBe(true)
    await world.answer(b)
    expect(waiting.runs).toBe(true)
  })

  test('R12: a process that has stalled for long does not start work from its socket buffer', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    world.freeze(b)
    await world.release(running)
    const other = await world.enter(a)
    await world.settle()
    expect(world.server.snapshot.running.map(({ key }) => key)).toEqual([waiting.name])
    await world.advance(livenessMs * 1.1)
    expect(other.runs).toBe(true)
    await world.thaw(b, false)
    expect(waiting.waits).toBe(true)
    await world.settle()
    await world.release(other)
    await world.settle()
    expect(waiting.runs).toBe(true)
  })

  test('R12: nor when it hears of the grant as the answer to its own change of settings', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.configure(a, { concurrency: 0 })
    await world.settle()
    await world.release(running)
    await world.settle()
    world.freeze(b)
    await world.advance(livenessMs * 0.9)
    await world.enter(a)
    await world.talk(a)
    await world.advance(livenessMs * 0.15, { flows: false })
    b.frozen = false
    await world.configure(b, { concurrency: 1 })
    await world.execute(b)
    expect(world.server.snapshot.running.map(({ key }) => key)).toEqual([waiting.name])
    await world.answer(b)
    expect(waiting.waits).toBe(true)
  })

  test('R12: a hint of another epoch is but a reason to look', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.release(running)
    await world.talk(a)
    const [old] = b.pipes.hints.splice(0)
    await world.flushAll()
    await world.talk(b)
    await world.advance(pollIntervalMs * 1.1)
    await world.hear(b, old!)
    expect(waiting.waits).toBe(true)
  })

  test('R12: also while the tickets are on their way back', async () => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.release(running)
    await world.talk(a)
    await world.flushAll()
    await world.advance(pollIntervalMs * 1.1, { flows: false })
    await world.execute(b)
    await world.answer(b)
    expect(b.pipes.requests.map(({ script }) => script.name)).toEqual(['rejoin'])
    await world.hint(b)
    expect(waiting.waits).toBe(true)
    await world.settle()
    world.check()
  })

  test('R13: a lease is counted from the sending of its exchange', async () => {
    const world = await World.on(redis)
    const [a] = await world.startAll(1)
    const ticket = await world.enter(a)
    await world.execute(a)
    await world.advance(200, { flows: false })
    await world.answer(a)
    await world.advance(leaseMs - 201)
    expect(ticket.runs).toBe(true)
    await world.advance(1)
    expect(ticket.ending).toBe('leaseLost')
  })

  test("R13: the store's milliseconds are not over before the process' own", async () => {
    const world = await World.on(redis)
    const [a, b] = await world.startAll(2)
    world.jump(-0.5)
    const ticket = await world.enter(a)
    await world.settle()
    await world.enter(b)
    await world.talk(b)
    await world.advance(leaseMs - 0.4)
    await world.enter(b)
    await world.talk(b)
    expect(ticket.runs).toBe(true)
    expect(world.server.snapshot.running.map(({ key }) => key)).toEqual([ticket.name])
  })

  test.each(['list', 'hint'])('R13: also when the %s that tells of the grant comes late', async (told) => {
    const { world, a, b, running, waiting } = await oneRunsOneWaits()
    await world.release(running)
    await world.talk(a)
    const [hint] = b.pipes.hints.splice(0)
    // An exchange that tells nothing of what runs.
    await world.advance(50, { flows: false })
    const other = await world.enter(b)
    await world.talk(b)
    expect([waiting.waits, other.waits]).toEqual([true, true])
    if (told === 'hint') await world.hear(b, hint!)
    else await world.advance(pollIntervalMs * 1.1)
    expect(waiting.runs).toBe(true)
    await world.advance(leaseMs)
    expect(waiting.ending).toBe('leaseLost')
    world.check()
  })
})
