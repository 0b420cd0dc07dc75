import { expect, test } from 'vitest'
import { machineNow } from './log.js'
import { eventually, useWorld } from './world.js'

const world = useWorld()

test('a Redis that comes back with an old snapshot is noticed by its run_id: nobody is lost or served twice, order and limit are kept, the dead of the snapshot vanish (R15, R10)', async () => {
  const limit = 4
  const options = { concurrency: limit, livenessMs: 3000, pollIntervalMs: 250 }
  // One comes back later than the monitor of this test, which must not miss a grant.
  const [a, b, c, d] = await world().start('ABCD', { ...options, reconnectMs: 500 })
  // D is in the snapshot, running and waiting, and no more when Redis comes back.
  await d!.enter(1)
  await Promise.all([a, b, c].map((process) => process!.enter(60, { workMs: 20 })))
  await world().ended(20)
  await d!.enter(3, { workMs: 20 })
  await eventually(async () => expect(await world().line()).toEqual(expect.arrayContaining(['D2', 'D3', 'D4'])))
  await world().redis.save()
  await d!.finish()
  await world().ended(50)
  await d!.kill()
  await a!.configure(limit - 1, 'operator')
  const monitor = await world().monitor()
  await Promise.all([a, b, c].map((process) => process!.answered()))
  await world().ended(100)

  const { epoch } = await world().numbers()
  const run = await world().serverRun()
  await world().server.kill()
  const killedAtMs = machineNow()
  await world().server.start()
  await eventually(async () => {
    expect(await world().serverRun()).toMatch(/^\w{40}$/)
    expect(await world().serverRun()).not.toBe(run)
    expect((await world().numbers()).epoch).toBeGreaterThan(epoch)
  })
  // Who comes now stands behind all who came before.
  await c!.enter(10, { workMs: 20 })
  await eventually(() =>
    expect(
      world()
        .log.of('ended')
        .filter(({ process }) => process !== 'D'),
    ).toHaveLength(190),
  )

  // What of D came to run before it was killed is chance.
  const { log } = world()
  const runs = log.runs()
  const ofOthers = (tickets: string[]): string[] => tickets.filter((ticket) => !ticket.startsWith('D')).toSorted()
  expect(ofOthers(log.tickets('started'))).toEqual(ofOthers(log.tickets('entered')))
  expect(ofOthers(log.tickets('ended'))).toEqual(ofOthers(log.tickets('entered')))
  expect([log.of('fault'), log.of('refused'), log.of('lost')]).toEqual([[], [], []])
  world().assertLimitKept(limit)
  world().assertLimitKept(
    limit - 1,
    runs.filter(({ fromMs }) => fromMs > killedAtMs),
  )
  await world().assertEmpty()
  expect(await b!.status()).toMatchObject({ concurrency: 3, operator: { concurrency: 3 }, version: 1, by: 'operator' })
  expect(monitor.eras).toHaveLength(2)
  for (const grants of monitor.eras) world().assertOrderKept(grants)
})
