import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { fairQueue } from '@fairqueue/express'
import { asksForEvents, closing, expressVersions, openSite } from './site.js'

/** Of four requests each, on either version. */
const ROUNDS = 600

function listeners(emitter: EventEmitter): Record<string, number> {
  return Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]))
}

it.each(expressVersions)(
  'B39: thousands of requests on one connection of $version leave every listener count as it was',
  async ({ framework }) => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const middleware = closing(
      fairQueue({
        concurrency: 1,
        statusDelayMs: 0,
        skip: (req) => req.query['how'] === 'skip',
        maxWaitMs: (req) => (req.query['how'] === 'refuse' ? 0 : '10s'),
      }),
    )
    const during: number[] = []
    const sockets: Socket[] = []
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (req, res) => {
        if (req.fairQueue.lease !== null) during.push(res.listenerCount('close'))
        if (req.fairQueue.signal.aborted) throw new Error('aborted')
        res.end()
      })
    })
    site.server.on('connection', (socket) => sockets.push(socket))
    const client = await site.connect()
    const round = async (): Promise<void> => {
      await client.request('GET', '/').response()
      await client.request('GET', '/?how=skip').response()
      const holder = await middleware.queue.acquire()
      expect((await client.request('GET', '/?how=refuse').response()).status).toBe(503)
      client.request('GET', '/', asksForEvents)
      await client.until('event: queue')
      await holder.release()
      await client.response()
    }
    const counts = (): unknown => [sockets[0]!, site.server, process].map(listeners)
    await round()
    const before = counts()
    for (let i = 1; i < ROUNDS; i += 1) await round()
    expect(counts()).toEqual(before)
    // Whether it waited or not, a response has one listener of ours.
    expect(new Set(during).size).toBe(1)
    expect(warnings).toEqual([])
    client.leave()
  },
  60_000,
)
