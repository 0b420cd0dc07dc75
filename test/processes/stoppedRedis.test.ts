import { describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineNow } from './log.js'
import { eventually, useWorld } from './world.js'

const world = useWorld()

const LIMIT = 4
const LIVENESS_MS = 3000
const STORE_TIMEOUT_MS = 500
/** For a slow and busy machine. */
const SLACK_MS = 3000

describe.each([
  // Longer than half of it: nobody's death is proven.
  { silence: 'for most of livenessMs', silentMs: 0.8 * LIVENESS_MS },
  { silence: 'for longer than livenessMs', silentMs: 1.5 * LIVENESS_MS },
])('a Redis that does not answer $silence', ({ silentMs }) => {
  test('takes nobody for dead; newcomers are refused in time, those in line keep their places and are served soon after its return (R19, R12, promise 8)', async ({
    annotate,
  }) => {
    const options = {
      concurrency: LIMIT,
      livenessMs: LIVENESS_MS,
      storeTimeoutMs: STORE_TIMEOUT_MS,
      onStoreError: 'closed',
    } as const
    const processes = await world().start('ABC', options)
    const [a] = processes
    const monitor = await world().monitor()
    // One runs all the time.
    await a!.enter(1)
    await Promise.all(processes.map((process) => process.enter(50, { workMs: 20 })))
    await Promise.all(processes.map((process) => process.answered()))
    await world().ended(30)

    world().server.pause()
    await Promise.all(processes.map((process) => process.enter(4, { workMs: 20 })))
    await sleep(silentMs)
    const { log } = world()
    const refused = log.tickets('refused')
    world().server.resume()
    const resumedAtMs = machineNow()
    await world().ended(150)
    const goneOnAfterMs = log.of('started').find(({ atMs }) => atMs > resumedAtMs)!.atMs - resumedAtMs
    await annotate(`the next started ${Math.round(goneOnAfterMs)} ms after Redis answered again`)
    expect(goneOnAfterMs).toBeLessThan(SLACK_MS)
    await a!.finish()
    await world().ended(151)

    expect(refused).toHaveLength(12)
    for (const { ticket, code, atMs } of log.of('refused')) {
      expect(code).toBe('FQ_STORE_UNAVAILABLE')
      const entered = log.of('entered').find((entry) => entry.ticket === ticket)!
      expect(atMs - entered.atMs).toBeLessThan(STORE_TIMEOUT_MS + SLACK_MS)
    }
    world().assertServedOnce({ refused })
    world().assertLimitKept(LIMIT)
    await world().assertEmpty()
    world().assertOrderKept(monitor.grants)
    await eventually(async () => expect(await a!.status()).toMatchObject({ degraded: false, running: 0, waiting: 0 }))
  })
})
