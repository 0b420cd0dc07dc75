import type { Adapter, AdapterGate, Handler, Plan } from './adapter.js'
import { openGate, openSite, runningIs, waitingIs } from './site.js'
import { deepEqual, equal } from '../assertions.js'
import { test } from '../suite.js'

type Mount = (gate: AdapterGate, handler: Handler) => Plan

const mounts: readonly (readonly [where: string, path: string, mount: Mount])[] = [
  ['at the root', '/hello', (gate, handler) => ({ gate, routes: [{ path: '/hello', handler }] })],
  [
    'under a prefix',
    '/api/hello',
    (gate, handler) => ({ prefix: '/api', gate, routes: [{ path: '/hello', handler }] }),
  ],
  ['at a route', '/hello', (gate, handler) => ({ routes: [{ path: '/hello', gate, handler }] })],
  [
    'at a route under a prefix',
    '/api/hello',
    (gate, handler) => ({ prefix: '/api', routes: [{ path: '/hello', gate, handler }] }),
  ],
]

export function mountingTests(adapter: Adapter): void {
  test.each(mounts)('%s, lets in, makes wait and refuses', async (_where, path, mount) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 1 })
    const site = await openSite(
      adapter,
      mount(gate, ({ text, place }) => text(`hello ${place.ticket !== null}`)),
    )
    equal((await site.get(path)).body, 'hello true')
    const holder = await queue.acquire()
    const waiting = site.get(path)
    await waitingIs(queue, 1)
    equal((await site.get(path)).status, 503)
    await holder.release()
    equal((await waiting).body, 'hello true')
    await runningIs(queue, 0)
  })

  test('at one route, leaves its neighbours alone', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 0 })
    const handler: Handler = ({ text, place }) => text(place === undefined ? 'free' : 'placed')
    const site = await openSite(adapter, {
      routes: [
        { path: '/slow', gate, handler },
        { path: '/fast', handler },
      ],
    })
    const holder = await queue.acquire()
    deepEqual([(await site.get('/slow')).status, (await site.get('/fast')).body], [503, 'free'])
    await holder.release()
  })

  test('at two routes, lets them share its line', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 0 })
    const handler: Handler = ({ text }) => text('hello')
    const site = await openSite(adapter, {
      routes: [
        { path: '/a', gate, handler },
        { path: '/b', gate, handler },
      ],
    })
    const holder = await queue.acquire()
    deepEqual([(await site.get('/a')).status, (await site.get('/b')).status], [503, 503])
    await holder.release()
    deepEqual([(await site.get('/a')).status, (await site.get('/b')).status], [200, 200])
  })
}
