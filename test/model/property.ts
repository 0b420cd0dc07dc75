import * as fc from 'fast-check'
import { vi } from 'vitest'
import type { Event } from './event.js'
import { traced } from './traced.js'

/** The same runs each time, so that a red gate is the fault of a change; `FAIRQUEUE_MODEL_SEED=random` hunts for more. */
const SEED = process.env['FAIRQUEUE_MODEL_SEED'] ?? '20261130'

/** One run. */
export interface Playable {
  /** All that is under way arrives. */
  settle(): Promise<void>
  /** Throws if a promise is broken. */
  check(): void
  /** Everything comes to its end, and what was promised for that is checked. */
  quiet(): Promise<void>
  /** Ends everything that would outlive the run. */
  end(stats: Record<string, number>): Promise<void>
}

/**
 * Plays random events, and checks the promises after each. `FAIRQUEUE_MODEL_RUNS` says how often, `FAIRQUEUE_MODEL_STATS=1` counts what
 * happened, `FAIRQUEUE_MODEL_PATH` with a seed repeats a failed run.
 * @returns how many events there were
 */
export async function checkPromises<Play extends Playable>(
  events: fc.Arbitrary<Event<Play>>,
  runs: number,
  start: (limit: number) => Promise<Play>,
): Promise<number> {
  let happened = 0
  const stats: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 1, 2),
      fc.nat(),
      fc.array(fc.record({ event: events, settles: fc.boolean() }), { maxLength: 60, size: 'max' }),
      async (limit, luck, script) => {
        let state = luck
        vi.spyOn(Math, 'random').mockImplementation(() => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return state / 2 ** 32
        })
        const play = await start(limit)
        try {
          for (const { event, settles } of script) {
            if (traced) console.log(event.text, settles)
            await event.happen(play)
            if (settles) await play.settle()
            play.check()
            happened += 1
          }
          await play.quiet()
        } finally {
          await play.end(stats)
          vi.restoreAllMocks()
        }
      },
    ),
    {
      numRuns: Number(process.env['FAIRQUEUE_MODEL_RUNS'] ?? runs),
      ...(SEED !== 'random' && { seed: Number(SEED) }),
      ...(process.env['FAIRQUEUE_MODEL_PATH'] && { path: process.env['FAIRQUEUE_MODEL_PATH'], endOnFailure: true }),
    },
  )
  if (process.env['FAIRQUEUE_MODEL_STATS']) console.log(stats)
  return happened
}
