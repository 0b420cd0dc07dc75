import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'

import { FairQueue, MemoryStore, type Logger } from '../../index.js'
import type { Adapter, AdapterGate, Handler } from './adapter.js'
import { asksForEvents, closing, deferred, openGate, openSite, runningIs } from './site.js'
import { deepEqual, equal, eventually, includes, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

const sse = { 'Content-Type': 'text/event-stream' }

type MakeGates = (adapter: Adapter, warn: Logger['warn']) => readonly [outer: AdapterGate, inner: AdapterGate]

/** All ways of reaching one queue at the application and at a route. */
const twice: readonly (readonly [string, MakeGates])[] = [
  [
    'the same gate',
    (adapter, warn) => {
      const gate = adapter.gate({ concurrency: 1, logger: { warn } })
      return [gate, gate]
    },
  ],
  [
    'two gates that share a queue',
    (adapter, warn) => {
      const queue = closing(new FairQueue({ concurrency: 1, logger: { warn } }))
      return [adapter.gate({ queue }), adapter.gate({ queue })]
    },
  ],
  [
    'two queues of one name on one store',
    (adapter, warn) => {
      const options = { name: 'chat', store: new MemoryStore(), concurrency: 1, logger: { warn } }
      return [adapter.gate(options), adapter.gate(options)]
    },
  ],
  [
    'two queues of one name in the memory of the process',
    (adapter, warn) => {
      const options = { name: randomUUID(), concurrency: 1, logger: { warn } }
      return [adapter.gate(options), adapter.gate(options)]
    },
  ],
]

export function twoGateTests(adapter: Adapter): void {
  test.each(twice)('with %s count a request once, and tell of it once', async (_how, makeGates) => {
    const warn = spy<Logger['warn']>()
    const [outer, inner] = makeGates(adapter, warn)
    for (const gate of [outer, inner]) closing(gate)
    const queue = outer.queue!
    const granted: string[] = []
    queue.on('granted', ({ ticket }) => granted.push(ticket.id!))
    const tickets: unknown[] = []
    const responses: ServerResponse[] = []
    const handler: Handler = ({ place, raw }) => {
      tickets.push(place.lease!.fence > 0 && !place.signal.aborted && place.ticket)
      responses.push(raw())
    }
    const site = await openSite(adapter, { gate: outer, routes: [{ path: '/', gate: inner, handler }] })
    for (let i = 1; i <= 3; i += 1) {
      const answer = site.get('/')
      await eventually(() => equal(responses.length, 1))
      equal((await queue.status()).running, 1)
      responses.pop()!.end('done')
      equal((await answer).body, 'done')
      await runningIs(queue, 0)
    }
    equal((await queue.status()).grants, 3)
    deepEqual(tickets, granted)
    deepEqual(warn.calls, [
      [
        `A request came to queue ${JSON.stringify(queue.name)} twice, by two middlewares on its way, and is counted once. Mount it once per route.`,
        { code: 'FQ_REACHED_TWICE' },
      ],
    ])
  })

  test('on one queue give a place at the route to who was skipped at the application', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    const handler: Handler = ({ place, text }) => text(String(place.ticket))
    const site = await openSite(adapter, {
      gate: adapter.gate({ queue, skip: () => true }),
      routes: [{ path: '/', gate: adapter.gate({ queue }), handler }],
    })
    matches((await site.get('/')).body, /^\d{16}\.[\w-]{12}$/)
  })

  test('that two routes pass in opposite order keep nobody longer than he may wait, tell which two, and block nobody after that', async () => {
    const warn = spy<Logger['warn']>()
    const options = { concurrency: 1, maxWaitMs: 100, store: new MemoryStore(), logger: { warn } }
    const a = closing(new FairQueue({ ...options, name: 'a' }))
    const b = closing(new FairQueue({ ...options, name: 'b' }))
    // Both hold their first place before either asks for its second one.
    const met = deferred()
    let count = 0
    const meet = async (): Promise<undefined> => {
      count += 1
      if (count === 2) met.resolve()
      await met.promise
    }
    const first = adapter.gate({ queue: ({ originalUrl }) => (originalUrl === '/ab' ? a : b), logger: { warn } })
    const second = adapter.gate({
      queue: ({ originalUrl }) => (originalUrl === '/ab' ? b : a),
      logger: { warn },
      keyGenerator: meet,
    })
    const handler: Handler = ({ request, text }) => text(request.originalUrl)
    const site = await openSite(adapter, {
      gate: first,
      routes: [
        { path: '/ab', gate: second, handler },
        { path: '/ba', gate: second, handler },
      ],
    })
    const statuses = (await Promise.all([site.get('/ab'), site.get('/ba')])).map(({ status }) => status)
    includes(statuses, 503)
    const told = warn.calls.map(([message, { code }]) => [code, /queue "\w".*queue "\w"/.exec(message)![0]])
    equal(told.length, statuses.filter((status) => status === 503).length)
    const possible = [
      ['FQ_HELD_WHILE_WAITING', 'queue "b" while it held a place in queue "a"'],
      ['FQ_HELD_WHILE_WAITING', 'queue "a" while it held a place in queue "b"'],
    ]
    for (const warning of told) includes(possible, warning)
    await runningIs(a, 0)
    await runningIs(b, 0)
    deepEqual([(await site.get('/ab')).body, (await site.get('/ba')).body], ['/ab', '/ba'])
  })

  test('tell a client of both its waits in one stream', async () => {
    const options = { concurrency: 1, statusDelayMs: 0 }
    const [outer, inner] = [openGate(adapter, options), openGate(adapter, options)]
    const handler: Handler = ({ text }) => text('data: done\n\n', { headers: sse })
    const site = await openSite(adapter, { gate: outer.gate, routes: [{ path: '/', gate: inner.gate, handler }] })
    const [inOuter, inInner] = [await outer.queue.acquire(), await inner.queue.acquire()]
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('"state":"waiting"')
    await inOuter.release()
    await client.until('"state":"admitted"')
    await eventually(() => equal(client.received.match(/"state":"waiting"/g)?.length, 2))
    await inInner.release()
    const { status, body } = await client.response()
    deepEqual(
      [status, body.match(/"state":"\w+"|data: done/g)],
      [200, ['"state":"waiting"', '"state":"admitted"', '"state":"waiting"', '"state":"admitted"', 'data: done']],
    )
    client.leave()
  })
}
