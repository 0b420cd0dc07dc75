import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

import type { Adapter, Handler } from './adapter.js'
import { asksForEvents, openGate, openSite, queried, runningIs, waitingIs } from './site.js'
import { deepEqual, equal } from '../assertions.js'
import { afterTest, test } from '../suite.js'

/** Of four requests each, and in every tenth one somebody who leaves while he waits. */
const ROUNDS = 600

function listeners(emitter: EventEmitter): Record<string, number> {
  return Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]))
}

export function listenerTests(adapter: Adapter): void {
  test(
    'B39: thousands of requests on one connection leave every listener count as it was',
    async () => {
      const warnings: Error[] = []
      const onWarning = (warning: Error): void => void warnings.push(warning)
      process.on('warning', onWarning)
      afterTest(() => void process.off('warning', onWarning))
      const { gate, queue } = openGate(adapter, {
        concurrency: 1,
        statusDelayMs: 0,
        skip: (request) => queried(request, 'how') === 'skip',
        maxWaitMs: (request) => (queried(request, 'how') === 'refuse' ? 0 : '10m'),
      })
      const during: number[] = []
      const handler: Handler = ({ place, res, text }) => {
        if (place.lease !== null) during.push(res.listenerCount('close'))
        if (place.signal.aborted) throw new Error('aborted')
        return text('')
      }
      const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
      // A machine that stands still for seconds is no idle client.
      site.server.keepAliveTimeout = 0
      const sockets: Socket[] = []
      site.server.on('connection', (socket) => sockets.push(socket))
      const client = await site.connect()
      const leave = async (): Promise<void> => {
        const leaver = (await site.connect()).request('GET', '/')
        await waitingIs(queue, 1)
        leaver.leave()
        await waitingIs(queue, 0)
      }
      const round = async (number: number): Promise<void> => {
        await client.request('GET', '/').response()
        await client.request('GET', '/?how=skip').response()
        const holder = await queue.acquire()
        equal((await client.request('GET', '/?how=refuse').response()).status, 503)
        if (number % 10 === 0) await leave()
        client.request('GET', '/', asksForEvents)
        await client.until('event: queue')
        await holder.release()
        await client.response()
      }
      /** When the server has done with the last response as well: its client may have it all before that. */
      const counts = async (): Promise<unknown> => {
        await runningIs(queue, 0)
        return [sockets[0]!, site.server, process].map(listeners)
      }
      await round(0)
      const before = await counts()
      for (let i = 1; i < ROUNDS; i += 1) await round(i)
      deepEqual(await counts(), before)
      // Whether it waited or not, a response has one listener of ours.
      equal(new Set(during).size, 1)
      deepEqual(warnings, [])
      client.leave()
    },
    { timeoutMs: 120_000 },
  )
}
