import * as fc from 'fast-check'
import { eventsOf, nothing, pick, type Describe, type Event } from './event.js'
import type { Call } from './pipes.js'
import { times, type ModelProcess } from './process.js'
import type { ModelTicket } from './promises.js'
import { MOST_TICKETS, PROCESSES, type Play } from './play.js'

const event: Describe<Play> = eventsOf()
const slot = fc.nat({ max: PROCESSES - 1 })
const index = fc.nat({ max: 7 })
const { livenessMs, leaseMs } = times

/** An event that needs a process that runs. */
function onAwake<Details>(
  name: string,
  details: fc.Arbitrary<Details>,
  happen: (play: Play, process: ModelProcess, details: Details) => Promise<void> | void,
): fc.Arbitrary<Event<Play>> {
  return event(name, fc.tuple(slot, details), async (play, [at, chosen]) => {
    const process = play.seat(at)
    if (process?.awake) await happen(play, process, chosen)
  })
}

/** An event that needs a process, be it frozen. */
function onAlive<Details>(
  name: string,
  details: fc.Arbitrary<Details>,
  happen: (play: Play, process: ModelProcess, details: Details) => Promise<void> | void,
): fc.Arbitrary<Event<Play>> {
  return event(name, fc.tuple(slot, details), async (play, [at, chosen]) => {
    const process = play.seat(at)
    if (process !== undefined && !process.dead) await happen(play, process, chosen)
  })
}

function own(play: Play, filter: (ticket: ModelTicket<ModelProcess>) => boolean): ModelTicket<ModelProcess>[] {
  return play.world.promises.tickets.filter((ticket) => ticket.owner.awake && filter(ticket))
}

/** `keys`: what tickets share; undefined: each has one of its own. */
const callersWith = (keys: fc.Arbitrary<string | undefined>) => [
  {
    weight: 14,
    arbitrary: event(
      'enter',
      fc.record({
        at: slot,
        permits: fc.constantFrom(1, 1, 1, 2),
        maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 0, 700, 2500),
        key: keys,
      }),
      async (play, { at, permits, maxWaitMs, key }) => {
        if (play.world.promises.tickets.length >= MOST_TICKETS) return
        const process = play.seat(at) ?? play.occupy(at)
        if (process.awake) await play.world.enter(process, permits, maxWaitMs, key)
      },
    ),
  },
  {
    weight: 10,
    arbitrary: event('release', index, async (play, at) => {
      const ticket = pick(
        own(play, ({ runs }) => runs),
        at,
      )
      if (ticket !== undefined) await play.world.release(ticket)
    }),
  },
  {
    weight: 4,
    arbitrary: event('cancel', index, async (play, at) => {
      const ticket = pick(
        own(play, ({ waits }) => waits),
        at,
      )
      if (ticket !== undefined) await play.world.cancel(ticket)
    }),
  },
  {
    weight: 4,
    arbitrary: event('leave', index, async (play, at) => {
      const ticket = pick(
        own(play, ({ waits, absent, ticket: { id } }) => waits && !absent && id !== null),
        at,
      )
      if (ticket !== undefined) await play.world.leave(ticket)
    }),
  },
  {
    weight: 6,
    arbitrary: onAwake('come back', index, async (play, process, at) => {
      const gone = play.world.promises.tickets.filter(({ absent, waits }) => absent && waits)
      const ticket = pick(gone, at)
      if (ticket !== undefined) await play.world.resume(ticket, process)
    }),
  },
  {
    weight: 4,
    arbitrary: onAwake(
      'configure',
      fc.oneof(
        fc.record({ concurrency: fc.constantFrom(0, 1, 1, 2, 2, 3, null) }),
        fc.record({ leaseMs: fc.constantFrom(leaseMs / 2, leaseMs * 2) }),
        fc.record({ enabled: fc.constantFrom(false, true) }),
      ),
      async (play, process, change) => play.world.configure(process, change),
    ),
  },
]

const network = [
  { weight: 12, arbitrary: event('settle', nothing, async (play) => play.world.settle()) },
  {
    weight: 12,
    arbitrary: onAlive('execute', nothing, async (play, process) => {
      if (process.pipes.requests.length > 0 && process.connected) await play.world.execute(process)
    }),
  },
  {
    weight: 6,
    arbitrary: onAwake('answer', nothing, async (play, process) => {
      if (process.pipes.answers.length > 0) await play.world.answer(process)
    }),
  },
  {
    weight: 6,
    arbitrary: onAwake('hint', fc.record({ at: index, stays: fc.boolean() }), async (play, process, { at, stays }) => {
      const { hints } = process.pipes
      if (hints.length > 0) await play.world.hint(process, { index: at % hints.length, stays })
    }),
  },
  {
    weight: 4,
    arbitrary: onAlive('lose hints', nothing, (_play, { pipes }) => {
      pipes.hints.length = 0
    }),
  },
  {
    weight: 2,
    arbitrary: event('old hint', fc.nat({ max: 50 }), async (play, at) => {
      const past = pick(play.world.pastHints, at)
      if (past?.process.awake) await play.world.hear(past.process, past.message)
    }),
  },
  {
    weight: 4,
    arbitrary: onAlive('lose request', fc.boolean(), (_play, { pipes }, inSilence) =>
      fail(pipes.requests.shift(), inSilence),
    ),
  },
  {
    weight: 5,
    arbitrary: onAlive('lose reply', fc.boolean(), async (play, process, inSilence) => {
      const { requests, answers } = process.pipes
      if (answers.length > 0) return fail(answers.shift()?.call, inSilence)
      if (requests.length === 0 || !process.connected) return
      const { call } = await play.world.execute(process, { answered: false })
      fail(call, inSilence)
    }),
  },
  {
    weight: 4,
    arbitrary: onAlive('resend', nothing, async (play, process) => {
      if (process.pipes.requests.length > 0 && process.connected) await play.world.execute(process, { stays: true })
    }),
  },
  {
    weight: 2,
    arbitrary: event('late copy', fc.nat({ max: 30 }), async (play, at) => {
      const exchanges = play.world.executedCalls.filter(({ script }) => script.name === 'exchange')
      const call = pick(exchanges.toReversed(), at)
      if (call !== undefined) await play.world.executeCopy(call)
    }),
  },
  {
    weight: 2,
    arbitrary: onAlive('cut', fc.constantFrom('reject' as const, 'resend' as const), async (play, process, how) =>
      play.world.cut(process, how),
    ),
  },
  {
    weight: 4,
    arbitrary: onAlive('mend', nothing, async (play, process) => {
      if (!process.connected) await play.world.mend(process)
    }),
  },
]

const pauses = [
  1,
  60,
  300,
  livenessMs / 3,
  livenessMs * 0.55,
  livenessMs * 0.7,
  livenessMs * 0.85,
  livenessMs + 1,
  livenessMs * 1.2,
  livenessMs * 1.8,
  leaseMs + 1,
]

const time = [
  {
    weight: 12,
    arbitrary: event('time passes', fc.constantFrom(...pauses), async (play, ms) => play.world.advance(ms)),
  },
  {
    weight: 6,
    arbitrary: event('time stands over the network', fc.constantFrom(...pauses), async (play, ms) =>
      play.world.advance(ms, { flows: false }),
    ),
  },
  {
    weight: 2,
    arbitrary: event(
      'clock jumps',
      fc.constantFrom(-20_000, -1000, 200, livenessMs * 0.4, livenessMs, livenessMs * 3),
      (play, ms) => play.world.jump(ms),
    ),
  },
]

const faults = [
  { weight: 4, arbitrary: onAwake('freeze', nothing, (play, process) => play.world.freeze(process)) },
  {
    weight: 6,
    arbitrary: onAlive('thaw', fc.boolean(), async (play, process, timersFirst) => {
      if (process.frozen) await play.world.thaw(process, timersFirst)
    }),
  },
  { weight: 2, arbitrary: onAlive('kill', nothing, (play, process) => play.world.kill(process)) },
  {
    weight: 2,
    arbitrary: event('restart', slot, (play, at) => {
      if (play.seat(at)?.dead) play.occupy(at)
    }),
  },
  { weight: 2, arbitrary: event('flush all', nothing, async (play) => play.world.flushAll()) },
  {
    weight: 3,
    arbitrary: event(
      'delete key',
      fc.constantFrom('waiting' as const, 'running' as const, 'instances' as const, 'state' as const),
      async (play, name) => play.world.deleteKey(name),
    ),
  },
  { weight: 1, arbitrary: event('flush scripts', nothing, async (play) => play.world.server.flushScripts()) },
  { weight: 1, arbitrary: event('dump', nothing, async (play) => play.world.dump()) },
  { weight: 2, arbitrary: event('restart from dump', nothing, async (play) => play.world.restartFromDump()) },
]

/** A call is in doubt: the client hears of an error, or nothing at all until it has waited long enough. */
function fail(call: Call | undefined, inSilence: boolean): void {
  if (!inSilence) call?.reject(new Error('Connection is closed.'))
}

const callers = callersWith(fc.constant(undefined))

/** Everything that can happen to a queue on Redis. */
export const redisEvents: fc.Arbitrary<Event<Play>> = fc.oneof(...callers, ...network, ...time, ...faults)

const capChanges = [
  {
    weight: 4,
    arbitrary: onAwake(
      'cap keys',
      fc.constantFrom({ concurrency: 1 }, { concurrency: 1 }, { concurrency: 2 }, { concurrency: 0 }, {}, null),
      async (play, process, perKey) => play.world.configure(process, { perKey }),
    ),
  },
  {
    weight: 2,
    arbitrary: event('delete key of caps', fc.constantFrom('parked' as const, 'keyed' as const), async (play, name) =>
      play.world.deleteKey(name),
    ),
  },
]

/** The same with tickets that share keys, and caps per key that change (R22). */
export const keyedEvents: fc.Arbitrary<Event<Play>> = fc.oneof(
  ...callersWith(fc.constantFrom('x', 'x', 'x', 'y', undefined)),
  ...capChanges,
  ...network,
  ...time,
  ...faults,
)
