import { expect, test } from 'vitest'
import { machineNow, mostAtOnce } from './log.js'
import { eventually, useWorld } from './world.js'

const world = useWorld()

const LIMIT = 4
/** For a slow and busy machine. */
const SLACK_MS = 2000

test('FLUSHALL in the middle of a load costs those who are there neither places nor the limit (R14 to R17, promise 6)', async () => {
  const processes = await world().start('ABC', { concurrency: LIMIT, livenessMs: 3000 })
  const monitor = await world().monitor()
  await Promise.all(processes.map((process) => process.enter(60, { workMs: 20 })))
  await Promise.all(processes.map((process) => process.answered()))
  for (const ended of [30, 60, 90]) {
    await world().ended(ended)
    await world().redis.flushall()
  }
  await world().ended(180)

  world().assertServedOnce()
  world().assertLimitKept(LIMIT)
  await world().assertEmpty()
  expect(monitor.eras.length).toBeGreaterThan(1)
  for (const grants of monitor.eras) world().assertOrderKept(grants)
})

test('after FLUSHALL a fresh process may run beside the others until they next look, and stands behind their waiters (R17, documented window)', async ({
  annotate,
}) => {
  // They look seldom, so that a process can be started between two looks.
  const livenessMs = 12_000
  const options = { concurrency: LIMIT, livenessMs, pollIntervalMs: livenessMs }
  const [a, b] = await world().start('AB', options)
  await world().enterInTurn(a!, b!, a!, b!, a!, b!)
  const places = await world().members('waiting')
  expect(places.map(({ ticket }) => ticket)).toEqual(['A3', 'B3'])

  await world().redis.flushall()
  const flushedAtMs = machineNow()
  const [fresh] = await world().start('F', options)
  await fresh!.enter(6)
  // The survivors are back with all that they have, and so is the fresh one's line.
  await eventually(async () => {
    const running = await world().running()
    expect(running.filter((ticket) => !ticket.startsWith('F'))).toEqual(['A1', 'B1', 'A2', 'B2'])
    expect([...running, ...(await world().line())]).toHaveLength(12)
  })
  expect((await world().members('waiting')).slice(0, 2)).toEqual(places)

  const beside = world()
    .log.of('started')
    .filter(({ process }) => process === 'F')
  const windowMs = Math.max(0, ...beside.map(({ atMs }) => atMs - flushedAtMs))
  expect(windowMs).toBeLessThan(livenessMs / 3 + SLACK_MS)
  expect(mostAtOnce(world().log.runs())).toBe(LIMIT + beside.length)
  await annotate(`${beside.length} over the limit, granted within ${Math.round(windowMs)} ms after FLUSHALL`)

  // Nobody is let in before there are fewer than the limit again; then in the order of the line.
  const line = await world().line()
  const order = world().log.tickets('started').length
  for (const process of [a!, b!, a!, b!]) await process.finish()
  await fresh!.finish(6)
  for (const process of [a!, b!]) {
    await eventually(() => expect(world().log.tickets('started')).toEqual(expect.arrayContaining(['A3', 'B3'])))
    await process.finish()
  }
  await eventually(async () => {
    await fresh!.finish(6)
    expect(world().log.of('ended')).toHaveLength(12)
  })
  const started = world().log.runs().slice(order)
  expect(started.map(({ ticket }) => ticket).toSorted()).toEqual(line.toSorted())
  for (const { fromMs } of started) {
    const others = world()
      .log.runs()
      .filter((run) => run.fromMs < fromMs && run.toMs > fromMs)
    expect(others.length).toBeLessThan(LIMIT)
  }
  world().assertServedOnce()
  await world().assertEmpty()
})
