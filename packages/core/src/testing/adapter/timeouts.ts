import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { RawClient } from './rawHttp.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { asksForEvents, openGate, openSite, runningIs, waitingIs } from './site.js'
import { deepEqual, equal, matches } from '../assertions.js'
import { afterTest, test } from '../suite.js'

/** Times that Node's own server gives a connection or a request: who waits has to live with them. */
export function timeoutTests(adapter: Adapter): void {
  const openLine = async (options: AdapterOptions = {}) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0, ...options })
    let runs = 0
    const handler: Handler = ({ text }) => {
      runs += 1
      return text('data: done\n\n', { headers: { 'Content-Type': 'text/event-stream' } })
    }
    const site = await openSite(adapter, { routes: [{ method: 'ALL', path: '/', gate, handler }] })
    return { site, queue, runs: () => runs }
  }

  test('Case 30, B36: outlives server.timeout by its heartbeats', async () => {
    const { site, queue } = await openLine({ heartbeatMs: 100 })
    site.server.timeout = 1000
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('\r\n2\r\n:\n'.repeat(12))
    await holder.release()
    equal((await client.response()).body.endsWith('data: done\n\n'), true)
    client.leave()
  })

  test('Case 30: that waits in silence for longer than server.timeout is cut, gives up its place, and its handler never runs', async () => {
    const { site, queue, runs } = await openLine({ sse: 'never' })
    site.server.timeout = 50
    const cancelled = new Promise((resolve) => queue.on('cancelled', resolve))
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/')
    await Promise.all([client.closed, cancelled])
    await holder.release()
    await runningIs(queue, 0)
    deepEqual([client.received, runs()], ['', 0])
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['silently', {}, /^HTTP\/1\.1 408 /],
    ['told of its wait', asksForEvents, /^HTTP\/1\.1 200 [^]*"state":"waiting"/],
  ])(
    'Case 30: whose body is not complete within server.requestTimeout is cut while it waits %s, gives up its place, and its handler never runs',
    async (_how, headers, received) => {
      const { site, queue, runs } = await openLine()
      const server = createServer({ requestTimeout: 300, connectionsCheckingInterval: 20 }, site.listener)
      afterTest(() => void server.close())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const holder = await queue.acquire()
      const client = await RawClient.connect((server.address() as AddressInfo).port)
      client.request('POST', '/', { ...headers, 'Content-Length': '10' }, 'half')
      await client.closed
      await waitingIs(queue, 0)
      await holder.release()
      await runningIs(queue, 0)
      matches(client.received, received)
      equal(runs(), 0)
    },
  )
}
