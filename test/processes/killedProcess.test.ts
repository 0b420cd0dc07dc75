import { expect, test } from 'vitest'
import { eventually, useWorld } from './world.js'

const world = useWorld()

const LIVENESS_MS = 3000
const POLL_MS = 250
/** For a slow and busy machine. */
const SLACK_MS = 3000

test('B02: a killed process that held all three permits and had four waiters is swept within livenessMs; nobody stands behind its dead (promise 5)', async ({
  annotate,
}) => {
  const [a, b, c] = await world().start('ABC', { concurrency: 3, livenessMs: LIVENESS_MS, pollIntervalMs: POLL_MS })
  const monitor = await world().monitor()
  await world().enterInTurn(a!, a!, a!, a!, b!, a!, c!, a!, b!, a!)
  expect(await world().running()).toEqual(['A1', 'A2', 'A3'])
  expect(await world().line()).toEqual(['A4', 'B1', 'A5', 'C1', 'A6', 'B2', 'A7'])

  const killedAtMs = await a!.kill()
  await c!.enter(1)
  await eventually(() => expect(world().log.tickets('started')).toHaveLength(6))

  // All that it held is given on at once, past its dead in the line, in order.
  expect(await world().running()).toEqual(['B1', 'C1', 'B2'])
  expect(world().log.tickets('started').slice(3).toSorted()).toEqual(['B1', 'B2', 'C1'])
  expect(new Set(monitor.grants.slice(3).map(({ command }) => command)).size).toBe(1)
  // Its waiters are gone.
  await eventually(async () => expect(await world().line()).toEqual(['C2']))

  const goneOnAfterMs = world().log.of('started')[3]!.atMs - killedAtMs
  expect(goneOnAfterMs).toBeLessThan(LIVENESS_MS + POLL_MS + SLACK_MS)
  await annotate(`the others went on ${Math.round(goneOnAfterMs)} ms after SIGKILL (livenessMs ${LIVENESS_MS})`)

  await b!.finish(2)
  await c!.finish()
  await eventually(() => expect(world().log.tickets('started').at(-1)).toBe('C2'))
  await c!.finish()
  await world().ended(4)
  await world().assertEmpty()
  world().assertLimitKept(3)
  expect([world().log.tickets('refused'), world().log.tickets('lost')]).toEqual([[], []])
})

test('B02: a killed process costs those who go on nothing while others release (promise 5)', async () => {
  const [a, b] = await world().start('AB', { concurrency: 2, livenessMs: LIVENESS_MS, pollIntervalMs: POLL_MS })
  await world().enterInTurn(b!, b!)
  await a!.enter(200)
  await eventually(async () => expect(await world().line()).toHaveLength(200))
  await b!.enter(50, { workMs: 1 })
  await eventually(async () => expect(await world().line()).toHaveLength(250))

  await a!.kill()
  // What a release gives to the dead meanwhile waits for the sweep, like what they held; then it is as if they had never been.
  await b!.finish(2)
  await eventually(async () => expect(await world().running()).toEqual(['A1', 'A2']))
  await world().ended(2 + 50)
  await world().assertEmpty()
  world().assertLimitKept(2)
})
