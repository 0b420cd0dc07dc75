import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Adapter, Handler } from './adapter.js'
import { asksForEvents, openGate, openSite, queried } from './site.js'

/** Of four requests each. */
const ROUNDS = 600

function listeners(emitter: EventEmitter): Record<string, number> {
  return Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]))
}

export function listenerTests(adapter: Adapter): void {
  it(
    'B39: thousands of requests on one connection leave every listener count as it was',
    { timeout: 120_000 },
    async () => {
      const warnings: Error[] = []
      const onWarning = (warning: Error): void => void warnings.push(warning)
      process.on('warning', onWarning)
      onTestFinished(() => void process.off('warning', onWarning))
      const { gate, queue } = openGate(adapter, {
        concurrency: 1,
        statusDelayMs: 0,
        skip: (request) => queried(request, 'how') === 'skip',
        maxWaitMs: (request) => (queried(request, 'how') === 'refuse' ? 0 : '10s'),
      })
      const during: number[] = []
      const handler: Handler = ({ place, res, text }) => {
        if (place.lease !== null) during.push(res.listenerCount('close'))
        if (place.signal.aborted) throw new Error('aborted')
        return text('')
      }
      const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
      const sockets: Socket[] = []
      site.server.on('connection', (socket) => sockets.push(socket))
      const client = await site.connect()
      const round = async (): Promise<void> => {
        await client.request('GET', '/').response()
        await client.request('GET', '/?how=skip').response()
        const holder = await queue.acquire()
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
  )
}
