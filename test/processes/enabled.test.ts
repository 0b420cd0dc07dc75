import type { QueueStatus } from '@fairqueue/core'
import { expect, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import { GatedServer } from './gatedServer.js'

async function eventually(read: () => Promise<Partial<QueueStatus>>, expected: Partial<QueueStatus>): Promise<void> {
  await expect.poll(read, { interval: 10, timeout: 15_000 }).toMatchObject(expected)
}

const redis = useRedis()

test('switching a queue off lets those who wait on every server pass at once, switching it on holds the line again', async () => {
  const [a, b] = [await GatedServer.start(redis.server.port), await GatedServer.start(redis.server.port)]
  await (await a.work()).until('counted')
  const waiting = [await a.work(), await b.work(), await b.work()]
  await eventually(() => b.status(), { running: 1, waiting: 3 })

  await b.ask('/configure?enabled=false')
  for (const client of waiting) await client.until('passed')
  await eventually(() => a.status(), { enabled: false, running: 1, waiting: 0 })
  await (await a.work()).until('passed')
  await (await b.work()).until('passed')

  await a.ask('/configure?enabled=true')
  await eventually(() => b.status(), { enabled: true })
  const next = [await b.work()]
  await eventually(() => a.status(), { running: 1, waiting: 1 })
  next.push(await a.work())
  await eventually(() => a.status(), { running: 1, waiting: 2 })
  await b.ask('/finish')
  // What passed uncounted holds no place; only the end of what was counted lets the next one in.
  expect(next[0]!.received).toBe('')
  await a.ask('/finish')
  await next[0]!.until('counted')
  expect(next[1]!.received).toBe('')
  await b.ask('/finish')
  await next[1]!.until('counted')
  await a.ask('/finish')
  await eventually(() => a.status(), { running: 0, waiting: 0 })
})
