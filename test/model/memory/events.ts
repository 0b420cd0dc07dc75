import * as fc from 'fast-check'
import { eventsOf, pick, type Describe, type Event } from '../event.js'
import type { ModelInstance } from './instance.js'
import type { MemoryWorld } from './world.js'

const MOST_INSTANCES = 6
const MOST_TICKETS = 12

const event: Describe<MemoryWorld> = eventsOf()
const index = fc.nat({ max: 11 })

/** One of those that are open, and the first if there is none. */
function someone(world: MemoryWorld, at: number): ModelInstance | undefined {
  if (world.open.length < Math.min(2, MOST_INSTANCES - world.instances.length)) return world.start()
  return pick(world.open, at)
}

const callers = [
  {
    weight: 16,
    arbitrary: event(
      'enter',
      fc.record({
        at: index,
        permits: fc.constantFrom(1, 1, 1, 2, 3),
        maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 0, 700, 2500),
        key: fc.constantFrom('x', 'x', 'y', undefined, undefined),
        reaction: fc.constantFrom('nothing', 'nothing', 'nothing', 'release', 'enter', 'cancel another', 'configure'),
      }),
      (world, { at, permits, maxWaitMs, reaction, key }) => {
        const instance = someone(world, at)
        if (instance === undefined || world.promises.tickets.length >= MOST_TICKETS) return
        world.enter(instance, permits, maxWaitMs, reaction, key)
      },
    ),
  },
  {
    weight: 9,
    arbitrary: event('release', index, async (world, at) => {
      const ticket = pick(world.promises.running, at)
      if (ticket !== undefined) await world.release(ticket)
    }),
  },
  {
    weight: 4,
    arbitrary: event('cancel', index, (world, at) => {
      const ticket = pick(world.promises.waiting, at)
      if (ticket !== undefined) world.cancel(ticket)
    }),
  },
  {
    weight: 3,
    arbitrary: event('watch', index, (world, at) => {
      const ticket = pick(world.promises.waiting, at)
      if (ticket !== undefined) world.watch(ticket)
    }),
  },
]

const concurrency = fc.constantFrom(0, 1, 1, 2, 2, 3)

const keyCaps = fc.record({
  concurrency: fc.constantFrom(0, 1, 1, 2, Infinity),
  maxQueueSize: fc.constantFrom(0, 1, 2, Infinity, Infinity),
})

const operators = [
  {
    weight: 6,
    arbitrary: event(
      'configure',
      fc.record({
        at: index,
        change: fc.oneof(
          fc.record({ concurrency: fc.oneof(concurrency, fc.constant(null)) }),
          fc.record({ maxQueueSize: fc.constantFrom(0, 1, 2, null) }),
          fc.record({ leaseMs: fc.constantFrom(2000, 8000, null) }),
          fc.record({ maxWaitMs: fc.constantFrom(0, 1500, null) }),
          fc.record({ enabled: fc.constantFrom(false, true, null) }),
          fc.record({ perKey: fc.oneof(keyCaps, fc.constant(null)) }),
        ),
        within: fc.oneof(
          { weight: 4, arbitrary: fc.constant(undefined) },
          fc.record({ concurrency }),
          fc.record({ perKey: keyCaps }),
        ),
      }),
      (world, { at, change, within }) => {
        const instance = pick(world.open, at)
        if (instance !== undefined) world.configure(instance, change, within)
      },
    ),
  },
  {
    weight: 1,
    arbitrary: event('configure blindly', index, (world, at) => {
      const instance = pick(world.open, at)
      if (instance !== undefined) world.configureBlindly(instance)
    }),
  },
  {
    weight: 2,
    arbitrary: event('look', index, async (world, at) => {
      const instance = pick(world.open, at)
      if (instance !== undefined) await world.look(instance)
    }),
  },
]

const pauses = fc.constantFrom(1, 300, 700, 1000, 1800, 2500, 5001, 12_000)

const time = [
  { weight: 8, arbitrary: event('time passes', pauses, async (world, ms) => world.advance(ms)) },
  { weight: 3, arbitrary: event('stall', pauses, async (world, ms) => world.stall(ms)) },
]

const processes = [
  {
    weight: 2,
    arbitrary: event('start', concurrency, (world, limit) => {
      if (world.instances.length < MOST_INSTANCES) world.start({ concurrency: limit })
    }),
  },
  {
    weight: 3,
    arbitrary: event(
      'close',
      fc.record({ at: index, graceMs: fc.constantFrom(0, 1000, 4000), late: fc.boolean() }),
      async (world, { at, graceMs, late }) => {
        const instance = pick(world.open, at)
        if (instance !== undefined) await world.close(instance, graceMs, late)
      },
    ),
  },
]

/** Everything that can happen to a queue in one process. */
export const memoryEvents: fc.Arbitrary<Event<MemoryWorld>> = fc.oneof(...callers, ...operators, ...time, ...processes)
