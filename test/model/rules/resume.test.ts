import { describe, expect, test } from 'vitest'
import type { Ticket } from '@fairqueue/core'
import { useRedis } from '../../kit/clients.js'
import { times } from '../process.js'
import { World } from '../world.js'

const { livenessMs } = times
const redis = useRedis()

/** Longer than anybody is away here. */
const graceMs = 10 * livenessMs

/** A runs one ticket, B and then A have one waiting each. */
async function oneRunsTwoWait() {
  const world = await World.on(redis, { leaseMs: '10m' })
  const [a, b, c] = await world.startAll(3)
  const running = await world.enter(a)
  await world.settle()
  const first = await world.enter(b)
  await world.settle()
  const second = await world.enter(a)
  await world.settle()
  return { world, a, b, c, running, first, second }
}

/** (A function, since the type of a property that was compared once stays narrow.) */
function stateOf(ticket: Ticket): string {
  return ticket.state
}

describe('places that are taken up again', () => {
  test('R24: a client whose process was killed goes on with its number on another, and does not die with the dead', async () => {
    const { world, b, c, running, first, second } = await oneRunsTwoWait()
    world.kill(b)
    await world.resume(first, c)
    await world.settle()
    await world.advance(livenessMs * 1.1)
    expect(world.server.snapshot.instances.has(b.id)).toBe(false)
    await world.release(running)
    await world.settle()
    expect([first.runs, second.waits]).toEqual([true, true])
    world.check()
  })

  test('R24: the process that had it and got no hint is told by its next answer', async () => {
    const { world, b, c, first } = await oneRunsTwoWait()
    const before = first.ticket
    await world.resume(first, c)
    await world.talk(c)
    b.pipes.hints.length = 0
    expect(stateOf(before)).toBe('waiting')
    await world.advance(livenessMs / 2)
    expect(stateOf(before)).toBe('moved')
    expect(first.waits).toBe(true)
    world.check()
  })

  test('R24: what it has not been told because its own answer was lost, too, it is told by the one that follows', async () => {
    const { world, b, c, first } = await oneRunsTwoWait()
    const before = first.ticket
    const newcomer = await world.enter(b)
    await world.resume(first, c)
    await world.talk(c)
    b.pipes.hints.length = 0
    await world.execute(b, { stays: true })
    await world.settle()
    expect([stateOf(before), stateOf(newcomer.ticket)]).toEqual(['moved', 'waiting'])
    expect(world.server.snapshot.waiting.filter(({ name }) => name === first.name)).toHaveLength(1)
    world.check()
  })

  test('R24: a process that was stopped meanwhile brings it back in vain', async () => {
    const { world, b, c, running, first, second } = await oneRunsTwoWait()
    const before = first.ticket
    world.freeze(b)
    await world.resume(first, c)
    await world.advance(livenessMs * 1.5)
    await world.thaw(b)
    await world.settle()
    expect(stateOf(before)).toBe('moved')
    expect(world.server.snapshot.waiting.map(({ name, instance }) => [name, instance])).toEqual([
      [first.name, c.id],
      [second.name, second.owner.id],
    ])
    await world.release(running)
    await world.settle()
    expect(first.runs).toBe(true)
  })

  test('R24: whoever comes first after a loss of memory, the one that was moved last is right', async () => {
    for (const oldOwnerFirst of [true, false]) {
      const { world, b, c, running, first, second } = await oneRunsTwoWait()
      const before = first.ticket
      world.freeze(b)
      await world.resume(first, c)
      await world.settle()
      await world.flushAll()
      if (oldOwnerFirst) {
        b.pipes.answers.length = 0
        b.pipes.hints.length = 0
        await world.thaw(b)
        await world.advance(1)
        await world.talk(b)
      } else {
        await world.talk(c)
        await world.thaw(b)
      }
      await world.advance(livenessMs * 1.5)
      expect(stateOf(before)).toBe('moved')
      expect(world.server.snapshot.waiting.map(({ name }) => name)).toEqual([first.name, second.name])
      await world.release(running)
      await world.settle()
      expect(first.runs).toBe(true)
      await world.end()
    }
  })

  test('R24: the place of a client that is away comes back with its process, and is still passed by, after a loss of memory', async () => {
    const { world, b, c, running, first, second } = await oneRunsTwoWait()
    first.ticket.leave(graceMs)
    await world.settle()
    await world.flushAll()
    await world.advance(livenessMs * 1.5)
    await world.release(running)
    await world.settle()
    expect([stateOf(first.ticket), second.runs]).toEqual(['waiting', true])
    await world.resume(first, c)
    await world.settle()
    const newcomer = await world.enter(b)
    await world.settle()
    await world.release(second)
    await world.settle()
    expect([first.runs, newcomer.waits]).toEqual([true, true])
  })

  test('R24, R4: a move whose answer was lost is asked for again and happens once', async () => {
    const { world, c, first } = await oneRunsTwoWait()
    await world.resume(first, c)
    await world.execute(c, { stays: true })
    await world.settle()
    const [member] = world.server.snapshot.waiting
    expect(member).toMatchObject({ name: first.name, instance: c.id })
    expect(member!.text).toMatch(/^\d+:[^:]+:[^:.]+\.[^:.]+\.1:/)
    expect(first.moves).toBe(1)
  })

  test('R24: a turn that comes while the news of its leaving is under way goes to the next, and its place is kept', async () => {
    const { world, a, b, c, running, first, second } = await oneRunsTwoWait()
    first.ticket.leave(graceMs)
    await world.release(running)
    await world.talk(a)
    expect(world.server.snapshot.running.map(({ name }) => name)).toEqual([first.name])
    await world.talk(b)
    expect(world.server.snapshot.running.map(({ name }) => name)).toEqual([second.name])
    await world.settle()
    expect(second.runs).toBe(true)
    await world.resume(first, c)
    await world.settle()
    await world.release(second)
    await world.settle()
    expect(first.runs).toBe(true)
  })

  test('R24: two that come back for one place at the same time: it goes to the later one, and the earlier one is told', async () => {
    const { world, b, c, first } = await oneRunsTwoWait()
    world.freeze(b)
    await world.resume(first, c)
    const other = c.queue.resume([...first.earlier][0]!.id!, { key: first.key })
    await world.settle()
    expect([stateOf(first.ticket), stateOf(other)].toSorted()).toEqual(['moved', 'waiting'])
    expect(world.server.snapshot.waiting.filter(({ name }) => name === first.name)).toHaveLength(1)
  })
})
