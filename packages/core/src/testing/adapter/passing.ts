import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

import { FairQueue, type OptionError } from '../../index.js'
import type { FairQueueContext } from '../../http.js'
import type { RawResponse } from './rawHttp.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { closing, headerOf, moment, openGate, openSite, queried, runningIs, waitingIs } from './site.js'
import { above, atLeast, below, deepEqual, equal, eventually, includes, matches, throws } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

/** All of a response that does not change from one second to the next. */
function undated({ headers, ...rest }: RawResponse): unknown {
  return [headers.filter(([name]) => name.toLowerCase() !== 'date'), { ...rest, header: null }]
}

const answers: readonly (readonly [string, Handler])[] = [
  ['a text', ({ text }) => text('hello', { status: 201, headers: { 'X-Own': 'yes', 'Set-Cookie': 'a=b' } })],
  ['JSON', ({ json }) => json({ hello: ['you'] })],
  ['a stream', ({ stream }) => stream(Readable.from(['a', 'b']), { headers: { 'Content-Type': 'text/plain' } })],
  ['a stream of events', ({ stream }) => stream(Readable.from(['data: a\n\n']), { headers: sse })],
  ['writeHead of its own', ({ raw }) => raw().writeHead(202, 'Fine', { 'X-Own': 'yes' }).end('hello')],
  ['nothing but a status', ({ text }) => text('', { status: 204 })],
  [
    'an error',
    () => {
      throw boom()
    },
  ],
  [
    'an error after a while',
    async () => {
      await moment(1)
      throw boom()
    },
  ],
]

/** An error whose stack, which frameworks may show, does not tell the two routes apart. */
function boom(): Error {
  return Object.assign(new Error('boom'), { stack: 'Error: boom' })
}

const sse = { 'Content-Type': 'text/event-stream' }

export function passingTests(adapter: Adapter): void {
  test.each(answers)('at once, is answered with %s as if there were no queue', async (_what, handler) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1 })
    const site = await openSite(adapter, {
      routes: [
        { path: '/gated', gate, handler },
        { path: '/bare', handler },
      ],
    })
    deepEqual(undated(await site.get('/gated')), undated(await site.get('/bare')))
    await runningIs(queue, 0)
  })

  test('runs beside at most so many others, in the order in which they came', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 2 })
    const started: string[] = []
    const responses: ServerResponse[] = []
    const handler: Handler = ({ request, raw }) => {
      started.push(queried(request, 'name')!)
      responses.push(raw())
    }
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const answered = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      answered.push(site.get(`/?name=${name}`))
      if (answered.length > 2) await waitingIs(queue, answered.length - 2)
      else await runningIs(queue, answered.length)
    }
    await eventually(() => deepEqual(started, ['a', 'b']))
    for (let i = 0; i < 5; i += 1) {
      await eventually(() => above(responses.length, 0))
      responses.shift()!.end()
    }
    await Promise.all(answered)
    deepEqual(started, ['a', 'b', 'c', 'd', 'e'])
  })

  test('knows of its place', async () => {
    const { gate, queue } = openGate(adapter, {
      concurrency: 1,
      keyGenerator: (request) => headerOf(request, 'x-user'),
    })
    const seen: FairQueueContext[] = []
    const handler: Handler = ({ place, text }) => {
      seen.push(place)
      return text(String(place.ticket))
    }
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const holder = await queue.acquire()
    const granted = spy<(key: string | null) => void>()
    queue.on('granted', ({ key }) => granted(key))
    const answer = site.get('/', { 'X-User': 'ann' })
    await waitingIs(queue, 1)
    await moment(5)
    await holder.release()
    const { header, body } = await answer
    matches(header('server-timing'), /^fairqueue;dur=\d+$/)
    const [context] = seen
    deepEqual(granted.calls, [['ann']])
    matches(body, /^\d{16}\.[\w-]{12}$/)
    above(context!.waitedMs, 4)
    above(context!.lease!.fence, 0)
    equal(context!.signal.aborted, false)
  })

  test('without having waited, gets no Server-Timing', async () => {
    const { gate } = openGate(adapter, { concurrency: 1 })
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler: ({ text }) => text('') }] })
    equal((await site.get('/')).header('server-timing'), undefined)
  })

  test.each<[string, AdapterOptions]>([
    ['because it is skipped', { skip: () => true }],
    ['because it is skipped after a while', { skip: () => Promise.resolve(true) }],
    ['because the queue is not enabled', { enabled: false }],
  ])('without a place, %s, still finds what it would know of one', async (_why, options) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, ...options })
    const seen: FairQueueContext[] = []
    const handler: Handler = ({ place, text }) => {
      seen.push(place)
      return text(String(place.ticket))
    }
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const holder = await queue.acquire()
    await site.get('/')
    await holder.release()
    const [context] = seen
    matches(context, { ticket: null, lease: null })
    atLeast(context!.waitedMs, 0)
    equal(context!.signal.aborted, false)
  })

  test('Case 28, B31: may be a CORS preflight in front of a saturated queue, but no other OPTIONS', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 0 })
    const handler: Handler = ({ place, json }) =>
      json(place.lease, { headers: { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json' } })
    const site = await openSite(adapter, { gate, routes: [{ method: 'OPTIONS', path: '/', handler }] })
    const holder = await queue.acquire()
    const preflight = await site.fetch('OPTIONS', '/', { Origin: 'http://a', 'Access-Control-Request-Method': 'POST' })
    equal(preflight.header('access-control-allow-origin'), '*')
    below(preflight.status, 300)
    equal((await site.fetch('OPTIONS', '/', { Origin: 'http://a' })).status, 503)
    await holder.release()
  })

  test('Case 28, B31: may be a HEAD: it waits and takes a place, silently', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0, sse: 'always' })
    const handler: Handler = ({ text }) => text('hello', { headers: { 'X-Own': 'yes', 'Content-Type': 'text/plain' } })
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const holder = await queue.acquire()
    const answer = site.fetch('HEAD', '/')
    await waitingIs(queue, 1)
    await moment()
    await holder.release()
    const { header } = await answer
    matches(header('content-type'), /^text\/plain/)
    deepEqual([header('x-own'), header('content-length')], ['yes', '5'])
  })

  test('B31: has no other gates than its own: routes beside a saturated queue answer, and connections may be upgraded', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 0 })
    const handler: Handler = ({ text }) => text('fine')
    const site = await openSite(adapter, {
      routes: [
        { path: '/chat', gate, handler },
        { path: '/healthz', handler },
      ],
    })
    site.server.on('upgrade', (_req: unknown, socket: Socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello')
    })
    const holder = await queue.acquire()
    deepEqual([(await site.get('/chat')).status, (await site.get('/healthz')).body], [503, 'fine'])
    const client = (await site.connect()).request('GET', '/chat', { Connection: 'Upgrade', Upgrade: 'websocket' })
    matches(await client.until('hello'), /^HTTP\/1\.1 101 /)
    await holder.release()
  })

  test('may share its queue with another gate, which leaves it open when it is closed', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    const [first, second] = [adapter.gate({ queue }), adapter.gate({ queue, maxWaitMs: 0 })]
    equal(first.queue, queue)
    await first.close()
    equal(queue.closing, false)
    const site = await openSite(adapter, { routes: [{ path: '/', gate: second, handler: ({ text }) => text('') }] })
    const holder = await queue.acquire()
    equal((await site.get('/')).status, 503)
    await holder.release()
    equal((await site.get('/')).status, 200)
  })

  test('waits in the queue that a function chooses', async () => {
    const queues = {
      a: closing(new FairQueue({ concurrency: 1, maxQueueSize: 0 })),
      b: closing(new FairQueue({ concurrency: 1 })),
    }
    const gate = adapter.gate({ queue: (request) => queues[queried(request, 'name') as 'a' | 'b'] })
    equal(gate.queue, null)
    const handler: Handler = ({ text }) => text('')
    const site = await openSite(adapter, { showErrors: true, routes: [{ path: '/', gate, handler }] })
    const holder = await queues.a.acquire()
    deepEqual([(await site.get('/?name=a')).status, (await site.get('/?name=b')).status], [503, 200])
    includes((await site.get('/?name=c')).body, 'The function "queue" must return a FairQueue, got undefined')
    await holder.release()
  })

  test('gets the permits and the longest wait that functions say, and the defaults for their nonsense', async () => {
    const { gate, queue } = openGate(adapter, {
      concurrency: 4,
      permits: (request) => Number(queried(request, 'permits')),
      maxWaitMs: (request) => queried(request, 'wait')!,
    })
    const errors: unknown[] = []
    queue.on('error', (error) => errors.push(error))
    const permits: number[] = []
    const handler: Handler = ({ place, text }) => {
      permits.push(place.lease!.permits)
      return text('')
    }
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    await site.get('/?permits=3&wait=1s')
    deepEqual(errors, [])
    await site.get('/?permits=x&wait=5')
    deepEqual(permits, [3, 1])
    deepEqual(
      errors.map((error) => (error as OptionError).option),
      ['permits', 'maxWaitMs'],
    )
    equal((await site.get('/?permits=5&wait=1s')).status, 400)
  })

  test('runs in its own AsyncLocalStorage, whoever made room for it', async () => {
    const storage = new AsyncLocalStorage<string>()
    const { gate, queue } = openGate(adapter, { concurrency: 1 })
    const seen: unknown[] = []
    const responses: ServerResponse[] = []
    const handler: Handler = ({ request, raw }) => {
      seen.push([request.originalUrl, storage.getStore()])
      responses.push(raw())
    }
    const site = await openSite(adapter, {
      layers: [(req, _res, next) => storage.run(req.url!, next)],
      routes: [{ path: '/', gate, handler }],
    })
    const answered = [site.get('/?a')]
    await runningIs(queue, 1)
    answered.push(site.get('/?b'))
    await waitingIs(queue, 1)
    await eventually(() => equal(responses.length, 1))
    responses.shift()!.end()
    await eventually(() => equal(responses.length, 1))
    responses.shift()!.end()
    await Promise.all(answered)
    deepEqual(seen, [
      ['/?a', '/?a'],
      ['/?b', '/?b'],
    ])
  })

  test('may finish when its gate is closed, while everybody else is refused with 503', async () => {
    const gate = adapter.gate({ concurrency: 1 })
    const queue = gate.queue!
    const responses: ServerResponse[] = []
    const site = await openSite(adapter, {
      routes: [{ path: '/', gate, handler: ({ raw }) => void responses.push(raw()) }],
    })
    const running = site.get('/')
    await eventually(() => equal(responses.length, 1))
    const waiting = site.get('/')
    await waitingIs(queue, 1)
    const closed = gate.close()
    matches(JSON.parse((await waiting).body), { status: 503, code: 'FQ_DRAINING' })
    const late = await site.get('/')
    deepEqual([late.status, late.header('connection'), late.header('retry-after')], [503, 'close', '1'])
    responses[0]!.end('done')
    equal((await running).body, 'done')
    await closed
  })

  test('needs options without those that the given queue brings along, which are refused by name', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    throws(() => adapter.gate({ queue, concurrency: 2 }), /"concurrency" belongs to the queue/)
    throws(() => adapter.gate({ concurency: 2 } as never), '"concurency"')
  })

  test('may have defaults: those for making a queue rest where one is given, and later options win', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    equal(adapter.gate({ queue }, { concurrency: 5, maxWaitMs: '1s' }).queue, queue)
    const gate = closing(adapter.gate({ concurrency: 2 }, { concurrency: 5, leaseMs: '1m' }))
    matches(gate.queue!.settings, { concurrency: 2, leaseMs: 60_000 })
  })
}
