import { expect, test } from 'vitest'
import { type Run } from './log.js'
import type { StoreGrant } from './storeMonitor.js'
import { useWorld } from './world.js'

const world = useWorld()

const PROCESSES = 'ABCD'
const LIMIT = 8
const REQUESTS = 400
const WORK_MS = 5

test('four processes serve 400 requests 8 at a time, in the order of arrival, each once (promises 1 to 4)', async ({
  annotate,
}) => {
  const processes = await world().start(PROCESSES, { concurrency: LIMIT })
  const monitor = await world().monitor()
  const each = REQUESTS / PROCESSES.length
  await Promise.all(processes.map((process) => process.enter(each, { workMs: WORK_MS, everyMs: 1 })))
  await world().ended(REQUESTS)

  world().assertServedOnce()
  world().assertLimitKept(LIMIT)
  await world().assertEmpty()

  // The store's order is exact.
  const { grants } = monitor
  expect(grants).toHaveLength(REQUESTS)
  world().assertOrderKept(grants)

  // What is left is the way of a grant to its process.
  const runs = world().log.runs()
  const { overtaken, unexplained, slowestMs } = overtakings(runs, grants)
  expect(unexplained).toEqual([])
  await annotate(`${overtaken} of ${runs.length} started after one that came later; slowest grant ${slowestMs} ms`)

  await Promise.all(processes.map((process) => process.close()))
})

interface Overtakings {
  /** How many started after somebody who had come later. */
  readonly overtaken: number
  /** Those for which the way of their grant is no explanation. */
  readonly unexplained: readonly Run[]
  /** Longest time from the store's grant to the start. */
  readonly slowestMs: number
}

/**
 * A ticket is overtaken while its grant is on the way to its process, so by no more than what the other permits can begin in that time:
 * each of them one, and one more for each time that the quickest work fits into it.
 */
function overtakings(runs: readonly Run[], grants: readonly StoreGrant[]): Overtakings {
  const grantedAtMs = new Map(grants.map(({ ticket, atMs }) => [ticket, atMs]))
  // The server tells the time by the wall clock, the log by the monotonic one; no start is before its grant.
  const delays = runs.map(({ ticket, fromMs }) => fromMs - grantedAtMs.get(ticket)!)
  const between = Math.min(...delays)
  const quickestMs = Math.min(...runs.map(({ fromMs, toMs }) => toMs - fromMs))
  let overtaken = 0
  const unexplained: Run[] = []
  for (const [index, run] of runs.entries()) {
    const before = runs.slice(0, index).filter(({ number }) => number > run.number).length
    // A quick grant may itself have taken a moment, by which all others look quicker than they were.
    const onTheWayMs = delays[index]! - between + 1
    if (before > 0) overtaken += 1
    if (before > (LIMIT - 1) * (1 + Math.floor(onTheWayMs / quickestMs))) unexplained.push(run)
  }
  return { overtaken, unexplained, slowestMs: Math.round(Math.max(...delays) - between) }
}
