import { expect, test } from 'vitest'
import { mostAtOnce, type Run } from './log.js'
import { eventually, useWorld } from './world.js'

const world = useWorld()

const LIVENESS_MS = 3000
const OPTIONS = { livenessMs: LIVENESS_MS, pollIntervalMs: 250 }

test('a process that was stopped for longer than livenessMs starts nothing on an old grant, hears that its lease is lost, and finds its places again (R12, R14)', async ({
  annotate,
}) => {
  const [a, b] = await world().start('AB', { ...OPTIONS, concurrency: 2 })
  await world().enterInTurn(a!, b!, a!, b!, a!, b!)
  expect(await world().running()).toEqual(['A1', 'B1'])
  const places = await world().members('waiting')
  expect(places.map(({ ticket }) => ticket)).toEqual(['A2', 'B2', 'A3', 'B3'])

  a!.stop()
  // Granted while nobody knows that it stands still: the hint waits in its socket.
  await b!.finish()
  await eventually(async () => expect(await world().running()).toEqual(['A1', 'A2']))
  // It is taken for dead, and the line goes on without it.
  await eventually(() => expect(world().log.tickets('started')).toEqual(['A1', 'B1', 'B2', 'B3']))
  await eventually(async () => expect(await world().line()).toEqual([]))
  await world().enterInTurn(b!, b!)
  const newPlaces = await world().members('waiting')
  expect(newPlaces.map(({ ticket }) => ticket)).toEqual(['B4', 'B5'])

  const resumedAtMs = a!.resume()
  await eventually(async () => expect(await world().members('waiting')).toEqual([places[0]!, places[2]!, ...newPlaces]))
  await eventually(() => expect(world().log.of('lost')).toMatchObject([{ ticket: 'A1', by: 'forgotten' }]))
  await annotate(`heard of the loss ${Math.round(world().log.of('lost')[0]!.atMs - resumedAtMs)} ms after SIGCONT`)
  expect(await world().running()).toEqual(['B2', 'B3'])
  expect(world().log.tickets('started')).toEqual(['A1', 'B1', 'B2', 'B3'])

  // Served in the order in which they came, each when a permit is free.
  for (const [process, next] of [
    [b!, 'A2'],
    [b!, 'A3'],
    [a!, 'B4'],
    [a!, 'B5'],
  ] as const) {
    await process.finish()
    await eventually(() => expect(world().log.tickets('started').at(-1)).toBe(next))
  }
  await b!.finish(2)
  await world().ended(7)
  world().assertServedOnce({ lost: ['A1'] })
  world().assertLimitKept(2, cutWhereStopped(world().log.runs(), 'A', world().log.of('stopped')[0]!.atMs))
  await world().assertEmpty()
})

test('a process that was stopped in the middle of a load loses what it ran, once, and the rest is served in its old order (R14)', async ({
  annotate,
}) => {
  const limit = 4
  const [a, b, c] = await world().start('ABC', { ...OPTIONS, concurrency: limit })
  const monitor = await world().monitor()
  await a!.enter(1)
  const load = [
    a!.enter(40, { workMs: 100, everyMs: 20 }),
    b!.enter(250, { workMs: 20, everyMs: 15 }),
    c!.enter(250, { workMs: 20, everyMs: 15 }),
  ]
  await world().ended(20)

  const stoppedAtMs = a!.stop()
  await eventually(async () => {
    const members = [...(await world().running()), ...(await world().line())]
    expect(members.filter((ticket) => ticket.startsWith('A'))).toEqual([])
    expect(
      world()
        .log.of('ended')
        .filter(({ atMs }) => atMs > stoppedAtMs + LIVENESS_MS).length,
    ).toBeGreaterThan(10)
  })
  const resumedAtMs = a!.resume()
  await Promise.all(load)
  await eventually(() => expect(world().log.of('ended').length + world().log.of('lost').length).toBe(541))

  const runs = world().log.runs()
  const stranded = runs.filter(
    ({ process, fromMs, toMs }) => process === 'A' && fromMs < stoppedAtMs && toMs > stoppedAtMs,
  )
  const lost = world().log.tickets('lost')
  expect(lost).toContain('A1')
  expect(stranded.map(({ ticket }) => ticket)).toEqual(expect.arrayContaining(lost))
  world().assertServedOnce({ lost })
  await world().assertEmpty()

  // What ran when it stopped ran no more while it stood; afterwards it is the documented window.
  world().assertLimitKept(limit, cutWhereStopped(runs, 'A', stoppedAtMs))
  const windowMs = Math.max(...stranded.map(({ toMs }) => toMs)) - resumedAtMs
  const worst = mostAtOnce(runs.map((run) => (stranded.includes(run) ? { ...run, fromMs: resumedAtMs } : run)))
  await annotate(
    `${lost.length} leases lost; ${worst - limit} over the limit for at most ${Math.round(windowMs)} ms after SIGCONT`,
  )
  expect(windowMs).toBeLessThan(LIVENESS_MS)

  // From its return on the old numbers count again.
  const late = runs.find(({ process, fromMs }) => process === 'A' && fromMs > resumedAtMs)!
  const returned = monitor.grants.findLastIndex(({ ticket }) => ticket === late.ticket)
  world().assertOrderKept(monitor.grants.slice(returned))
})

/** What a process ran when it was stopped ended there, for all others. */
function cutWhereStopped(runs: readonly Run[], process: string, stoppedAtMs: number): Run[] {
  return runs.map((run) =>
    run.process === process && run.fromMs < stoppedAtMs ? { ...run, toMs: Math.min(run.toMs, stoppedAtMs) } : run,
  )
}
