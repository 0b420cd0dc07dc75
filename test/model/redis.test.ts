import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { useRedis } from '../kit/clients.js'
import { redisEvents } from './events.js'
import { Play } from './play.js'
import { ModelServer } from './server.js'
import { traced } from './trace.js'

/** The same runs each time, so that a red gate is the fault of a change; `FAIRQUEUE_MODEL_SEED=random` hunts for more. */
const SEED = process.env['FAIRQUEUE_MODEL_SEED'] ?? '20261130'

const redis = useRedis()
let server: ModelServer | undefined

test('the promises hold on Redis, whatever happens in whatever order', async () => {
  server ??= new ModelServer(redis)
  let calls = 0
  const stats: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 1, 2),
      fc.nat(),
      fc.array(fc.record({ event: redisEvents, settles: fc.boolean() }), { maxLength: 60, size: 'max' }),
      async (limit, luck, events) => {
        await server!.start()
        let state = luck
        vi.spyOn(Math, 'random').mockImplementation(() => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return state / 2 ** 32
        })
        const play = new Play(server!, { concurrency: limit })
        try {
          for (const { event, settles } of events) {
            if (traced) console.log(event.text, settles)
            await event.happen(play)
            if (settles) await play.world.settle()
            play.world.check()
          }
          await play.quiet(limit)
        } finally {
          calls += play.world.executedCalls.length
          if (process.env['FAIRQUEUE_MODEL_STATS']) {
            for (const { owner, ending, lease } of play.world.promises.tickets) {
              const word = `${owner.dead ? 'dead ' : ''}${lease === undefined ? '' : 'granted '}${ending}`
              stats[word] = (stats[word] ?? 0) + 1
            }
            for (const { script, how } of play.world.executedCalls)
              stats[`${script.name} ${how}`] = (stats[`${script.name} ${how}`] ?? 0) + 1
          }
          await play.world.end()
          vi.restoreAllMocks()
        }
      },
    ),
    {
      numRuns: Number(process.env['FAIRQUEUE_MODEL_RUNS'] ?? 100),
      ...(SEED !== 'random' && { seed: Number(SEED) }),
      ...(process.env['FAIRQUEUE_MODEL_PATH'] && { path: process.env['FAIRQUEUE_MODEL_PATH'], endOnFailure: true }),
    },
  )
  if (process.env['FAIRQUEUE_MODEL_STATS']) console.log(stats)
  expect(calls).toBeGreaterThan(0)
}, 3_600_000)
