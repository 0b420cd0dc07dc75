import { expect, test } from 'vitest'
import { eventually, useWorld } from './world.js'

const world = useWorld()

test('a Redis that was killed and comes back empty gets everything back, and grants nothing before the last has brought what it runs (R14 to R18, promise 6)', async () => {
  const [a, b] = await world().start('AB', { concurrency: 8, livenessMs: 5000, pollIntervalMs: 250 })
  await a!.configure(4, 'operator')
  await world().enterInTurn(a!, b!, a!, b!, a!, b!, a!, b!)
  const before = { running: await world().members('running'), waiting: await world().members('waiting') }
  expect(before.running.map(({ ticket }) => ticket)).toEqual(['A1', 'B1', 'A2', 'B2'])
  expect(before.waiting.map(({ ticket }) => ticket)).toEqual(['A3', 'B3', 'A4', 'B4'])
  const { epoch } = await world().numbers()

  // One comes back later than the other.
  b!.stop()
  await world().server.restartEmpty()
  await eventually(async () => expect(await world().running()).toEqual(['A1', 'A2']))
  const { lastExchangeMs } = await world().numbers()
  await eventually(async () => expect((await world().numbers()).lastExchangeMs).toBeGreaterThan(lastExchangeMs + 500))
  expect(await world().running()).toEqual(['A1', 'A2'])
  expect(await world().line()).toEqual(['A3', 'A4'])
  b!.resume()

  await eventually(async () => {
    expect(await world().members('running')).toHaveLength(4)
    expect(await world().members('waiting')).toEqual(before.waiting)
    // It did not have to wait for the grace to run out.
    expect((await world().numbers()).graceUntilMs).toBe(0)
  })
  expect(await world().running()).toEqual(['A1', 'B1', 'A2', 'B2'])
  expect((await world().numbers()).epoch).toBeGreaterThan(epoch)
  expect(await b!.status()).toMatchObject({ concurrency: 4, operator: { concurrency: 4 }, version: 1, by: 'operator' })
  expect(world().log.tickets('started')).toHaveLength(4)

  for (const [process, next] of [
    [a!, 'A3'],
    [b!, 'B3'],
    [a!, 'A4'],
    [b!, 'B4'],
  ] as const) {
    await process.finish()
    await eventually(() => expect(world().log.tickets('started').at(-1)).toBe(next))
  }
  await Promise.all([a!.finish(2), b!.finish(2)])
  await world().ended(8)
  world().assertServedOnce()
  world().assertLimitKept(4)
  await world().assertEmpty()
})

test('a Redis that is killed and comes back empty in the middle of a load loses no waiter, keeps the order, and the limit all the time (R16, R18, promise 6)', async ({
  annotate,
}) => {
  const limit = 4
  // They come back later than the monitor of this test, which must not miss a grant.
  const processes = await world().start('ABC', { concurrency: limit, livenessMs: 5000, reconnectMs: 500 })
  const monitor = await world().monitor()
  await Promise.all(processes.map((process) => process.enter(60, { workMs: 20 })))
  await Promise.all(processes.map((process) => process.answered()))
  await world().ended(50)

  const killedAtMs = performance.now()
  const endedBefore = world().log.of('ended').length
  await world().server.restartEmpty()
  await world().ended(endedBefore + 2 * limit)
  await annotate(`served again ${Math.round(performance.now() - killedAtMs)} ms after Redis was killed`)

  await world().ended(180)
  world().assertServedOnce()
  world().assertLimitKept(limit)
  await world().assertEmpty()
  expect(monitor.eras).toHaveLength(2)
  for (const grants of monitor.eras) world().assertOrderKept(grants)
})

test('who asks while Redis is away is refused in time, and those in line are not (promises 8 and 9)', async () => {
  const storeTimeoutMs = 500
  const [a] = await world().start('A', { concurrency: 1, livenessMs: 5000, storeTimeoutMs, onStoreError: 'closed' })
  await world().enterInTurn(a!, a!, a!)
  expect(await world().line()).toEqual(['A2', 'A3'])

  await world().server.kill()
  await a!.enter(5)
  await eventually(() => expect(world().log.tickets('refused')).toHaveLength(5))
  for (const { ticket, code, atMs } of world().log.of('refused')) {
    expect(code).toBe('FQ_STORE_UNAVAILABLE')
    const entered = world()
      .log.of('entered')
      .find((entry) => entry.ticket === ticket)!
    expect(atMs - entered.atMs).toBeLessThan(storeTimeoutMs + 2000)
  }
  await world().server.start()
  for (const next of ['A2', 'A3']) {
    await a!.finish()
    await eventually(() => expect(world().log.tickets('started').at(-1)).toBe(next))
  }
  await a!.finish()
  await world().ended(3)
  world().assertServedOnce({ refused: ['A4', 'A5', 'A6', 'A7', 'A8'] })
  await world().assertEmpty()
})
