import { expect, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import type { RawClient } from '../kit/rawHttp.js'
import { asksForEvents } from '../kit/site.js'
import { GatedServer } from './gatedServer.js'

const CLIENTS = 1000

/** What a client was told last of its place. */
interface Told {
  readonly ticket: string
  readonly position: number
}

const redis = useRedis()

/** No process is taken for dead before its clients have come back, on however busy a machine. */
const patient = { livenessMs: '1m' } as const

async function told(client: RawClient): Promise<Told> {
  const event = /"position":(\d+),"etaMs":(?:null|\d+),"ticket":"([^"]+)"/
  const text = await client.until('"model":"queue"')
  const [, position, ticket] = event.exec(text)!
  return { ticket: ticket!, position: Number(position) }
}

test(
  'B36: a thousand EventSources whose server was killed and started again come back to their places, and none has two',
  { timeout: 60_000 },
  async () => {
    const [stays, dies] = [
      await GatedServer.start(redis.server.port, patient),
      await GatedServer.start(redis.server.port, patient),
    ]
    const running = await stays.work()
    await running.until('counted')
    const before = await Promise.all(Array.from({ length: CLIENTS }, async () => told(await dies.work(asksForEvents))))
    const places = Array.from({ length: CLIENTS }, (_, index) => index + 1)
    expect(before.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual(places)

    await dies.kill()
    const again = await GatedServer.start(redis.server.port, patient)
    const back = await Promise.all(
      before.map(({ ticket }) => again.work({ ...asksForEvents, 'Last-Event-ID': `q:${ticket}` })),
    )
    expect(await Promise.all(back.map(told))).toEqual(before)
    expect(await again.status()).toMatchObject({ running: 1, waiting: CLIENTS })

    await stays.ask('/finish')
    await back[before.findIndex(({ position }) => position === 1)]!.until('"state":"admitted"')
    expect(await again.status()).toMatchObject({ running: 1, waiting: CLIENTS - 1 })
  },
)
