import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { onTestFinished } from 'vitest'
import type { Lease } from '@fairqueue/core'
import { fairQueue, type FairQueueMiddleware, type OwnQueueOptions } from '@fairqueue/express'
import { eventually } from './rawServer.js'

/** A real server whose routes are behind a queue with one place. */
export interface Site {
  readonly url: string
  readonly gate: FairQueueMiddleware
  /** Takes the only place, so that whoever comes has to wait. */
  hold(this: void): Promise<Lease>
  /** Waits until so many wait. */
  untilWaiting(this: void, count: number): Promise<void>
}

export async function openSite(
  mount: (app: Express, gate: FairQueueMiddleware) => void,
  options: Partial<OwnQueueOptions> = {},
): Promise<Site> {
  const gate = fairQueue({ concurrency: 1, statusDelayMs: 0, statusIntervalMs: 1, logger: { warn() {} }, ...options })
  const app = express().set('env', 'test')
  app.use(express.json())
  mount(app, gate)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await gate.close({ graceMs: 0 })
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gate,
    hold: () => gate.queue.acquire(),
    untilWaiting: async (count) => {
      await eventually(async () => (await gate.queue.status()).waiting).toBe(count)
    },
  }
}
