import type { ServerResponse } from 'node:http'

import { readEventStream } from './eventStream.js'
import type { RawResponse } from './rawHttp.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { asksForEvents, headerOf, moment, openGate, openSite, runningIs, waitingIs } from './site.js'
import { deepEqual, equal, eventually, includes, matches } from '../assertions.js'
import { test } from '../suite.js'

/** Members that the event has for the sake of LLM clients. */
const CHUNK =
  '"object":"chat.completion.chunk","created":0,"model":"queue","choices":[{"index":0,"delta":{},"finish_reason":null}]}'

function queueEvent(ticket: string, state: string, position: number, etaMs: number | null): string {
  return `event: queue\ndata: {"type":"data-queue","id":"queue","transient":true,"data":{"state":"${state}","position":${position},"etaMs":${etaMs},"ticket":"${ticket}"},${CHUNK}\n\n`
}

const sse = { 'Content-Type': 'text/event-stream' }

export function waitingTests(adapter: Adapter): void {
  const openLine = async (options: AdapterOptions = {}) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0, ...options })
    let runs = 0
    const handler: Handler = ({ text }) => {
      runs += 1
      return text('data: done\n\n', { headers: sse })
    }
    const site = await openSite(adapter, { routes: [{ method: 'ALL', path: '/', gate, handler }] })
    return { gate, site, queue, runs: () => runs }
  }

  test('that sent a GET is told of its place, under ids, and then gets the answer', async () => {
    const { site, queue } = await openLine()
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    const ticket = /"ticket":"([^"]+)"/.exec(await client.until(CHUNK))![1]!
    await holder.release()
    const { status, header, body } = await client.response()
    deepEqual(
      [status, header('content-type'), header('cache-control'), header('x-accel-buffering')],
      [200, 'text/event-stream; charset=utf-8', 'no-cache, no-transform', 'no'],
    )
    equal(
      body,
      `id: q:${ticket}\n${queueEvent(ticket, 'waiting', 1, null)}id:\n${queueEvent(ticket, 'admitted', 0, 0)}data: done\n\n`,
    )
    client.leave()
  })

  test('that sent a POST is told the same without ids', async () => {
    const { site, queue } = await openLine()
    const holder = await queue.acquire()
    const client = (await site.connect()).request('POST', '/', asksForEvents, '{}')
    const ticket = /"ticket":"([^"]+)"/.exec(await client.until(CHUNK))![1]!
    await holder.release()
    equal(
      (await client.response()).body,
      `${queueEvent(ticket, 'waiting', 1, null)}${queueEvent(ticket, 'admitted', 0, 0)}data: done\n\n`,
    )
    client.leave()
  })

  test.each<['GET' | 'POST', 'plain' | 'comment', string]>([
    ['GET', 'plain', 'id: q:T\nevent: queue\ndata: WAITING\n\n:\nid:\nevent: queue\ndata: ADMITTED\n\n'],
    ['POST', 'plain', 'event: queue\ndata: WAITING\n\n:\nevent: queue\ndata: ADMITTED\n\n'],
    ['GET', 'comment', ': queue WAITING\n\n:\n\n: queue ADMITTED\n\n'],
    ['POST', 'comment', ': queue WAITING\n\n:\n\n: queue ADMITTED\n\n'],
  ])('that sent a %s gets exactly these bytes in the format %s', async (method, sseFormat, expected) => {
    const { site, queue } = await openLine({ sseFormat, heartbeatMs: 100 })
    const holder = await queue.acquire()
    const client = (await site.connect()).request(method, '/', asksForEvents, method === 'POST' ? '{}' : undefined)
    const ticket = /"ticket":"([^"]+)"/.exec(await client.until('\r\n:\n'))![1]!
    await holder.release()
    const { body } = await client.response()
    const news = (state: string, position: number, etaMs: number | null): string =>
      JSON.stringify({ state, position, etaMs, ticket })
    const prefix = expected
      .replace('q:T', `q:${ticket}`)
      .replace('WAITING', news('waiting', 1, null))
      .replace('ADMITTED', news('admitted', 0, 0))
    // On a busy machine there may be a second heartbeat.
    equal(body.replace(/^(:\n\n?)\1+/m, '$1'), `${prefix}data: done\n\n`)
    const { events, comments } = readEventStream(body)
    const names = events.map(({ event, data }) => event ?? data)
    deepEqual(names, sseFormat === 'plain' ? ['queue', 'queue', 'done'] : ['done'])
    const told =
      sseFormat === 'plain' ? events.map(({ data }) => data) : comments.map((text) => text.replace('queue ', ''))
    deepEqual(
      told.filter((text) => text.startsWith('{')),
      [news('waiting', 1, null), news('admitted', 0, 0)],
    )
    client.leave()
  })

  test.each(['universal', 'plain', 'comment'] as const)(
    'that is refused in the format %s gets the one error event, and nothing after it',
    async (sseFormat) => {
      const { site, queue } = await openLine({ sseFormat })
      await queue.acquire()
      const client = (await site.connect()).request('GET', '/', asksForEvents)
      await client.until('"state":"waiting"')
      void queue.close({ graceMs: 0 })
      const { events } = readEventStream((await client.response()).body)
      matches(
        events.filter(({ event }) => event !== 'queue'),
        [{ event: 'error', id: 'q:end' }],
      )
      matches(JSON.parse(events.at(-1)!.data), {
        type: 'error',
        status: 503,
        body: { code: 'FQ_DRAINING' },
      })
      client.leave()
    },
  )

  test('sees its place count down, never rise, and end with 0 exactly once', async () => {
    const { site, queue } = await openLine({ statusIntervalMs: 5 })
    const holders = [await queue.acquire()]
    for (let i = 0; i < 4; i += 1) void queue.enter().granted.then((lease) => holders.push(lease))
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    for (const position of [5, 4, 3, 2, 1]) {
      await client.until(`"position":${position},`)
      await eventually(() => equal(holders.length, 1))
      await holders.pop()!.release()
    }
    const events = readEventStream((await client.response()).body).events
    const news = events
      .filter(({ event }) => event === 'queue')
      .map(({ data }) => (JSON.parse(data) as { data: { position: number } }).data)
    const positions = news.map(({ position }) => position)
    deepEqual(
      positions,
      positions.toSorted((a, b) => b - a),
    )
    deepEqual([...new Set(positions)], [5, 4, 3, 2, 1, 0])
    equal(positions.filter((position) => position === 0).length, 1)
    client.leave()
  })

  test('B36: gets heartbeats that no parser takes for an event', async () => {
    const { site, queue } = await openLine({ heartbeatMs: 5 })
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('\r\n2\r\n:\n\r\n2\r\n:\n\r\n')
    await holder.release()
    const { body } = await client.response()
    matches(
      readEventStream(body).events.map(({ event, id, data }) => [event, id, data.length > 0]),
      [
        ['queue', /^q:/, true],
        ['queue', '', true],
        [undefined, undefined, true],
      ],
    )
    client.leave()
  })

  test.each<[string, 'told' | 'not told', AdapterOptions, Record<string, string>]>([
    ['asked for events', 'told', {}, asksForEvents],
    ['prefers events', 'told', {}, { Accept: 'text/event-stream, application/json;q=0.9, */*;q=0.8' }],
    ['takes anything', 'not told', {}, { Accept: '*/*' }],
    ['takes any text', 'not told', {}, { Accept: 'text/*' }],
    ['says nothing', 'not told', {}, {}],
    ['wants JSON', 'not told', {}, { Accept: 'application/json' }],
    ['wants JSON as well, as MCP clients do', 'not told', {}, { Accept: 'application/json, text/event-stream' }],
    ['wants a page', 'not told', {}, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }],
    ['wants no events', 'not told', {}, { Accept: 'text/event-stream;q=0, */*' }],
    ["asked for events, but sse is 'never'", 'not told', { sse: 'never' }, asksForEvents],
    ["takes anything, and sse is 'always'", 'told', { sse: 'always' }, { Accept: '*/*' }],
    ['asked for events, but is let in within the delay', 'not told', { statusDelayMs: '1m' }, asksForEvents],
  ])('Case 23: that %s is %s of its wait', async (_what, how, options, headers) => {
    const told = how === 'told'
    const { site, queue } = await openLine(options)
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', headers)
    await waitingIs(queue, 1)
    if (told) await client.until('event: queue')
    else await moment(10)
    await holder.release()
    const { body, header } = await client.response()
    equal(body.includes('event: queue'), told)
    equal(body.endsWith('data: done\n\n'), true)
    equal(header('server-timing') === undefined, told)
    client.leave()
  })

  test('Case 24: that is let in within the delay gets status, headers, cookies and body as if it had not waited', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: '1m' })
    const handler: Handler = ({ text }) =>
      text('made', { status: 201, headers: { 'X-Own': 'yes', 'Set-Cookie': 'a=b', 'Content-Type': 'text/plain' } })
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const atOnce = await site.get('/', asksForEvents)
    const holder = await queue.acquire()
    const waited = site.get('/', asksForEvents)
    await waitingIs(queue, 1)
    await holder.release()
    const own = ({ status, statusText, headers, body }: RawResponse): unknown => [
      [status, statusText, body],
      headers.filter(([name]) => !/^(date|server-timing)$/i.test(name)),
    ]
    deepEqual(own(await waited), own(atOnce))
    deepEqual([atOnce.status, atOnce.header('set-cookie')], [201, 'a=b'])
  })

  test('Case 22: gets one error event and a clean end when its time is over, and may use its connection again', async () => {
    const { site, queue, runs } = await openLine({ name: 'chat', maxWaitMs: 200 })
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    const { status, body } = await client.response()
    const message = 'The turn in queue \\"chat\\" did not come within 200 ms.'
    const problem = `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Request cannot be satisfied due to temporary server capacity constraints","status":503,"detail":"${message}","code":"FQ_WAIT_TIMEOUT","retryAfter":5,"violated-policies":["chat"],"error":{"type":"overloaded_error","code":"FQ_WAIT_TIMEOUT","message":"${message}"}}`
    equal(status, 200)
    equal(
      body.slice(body.indexOf('id: q:end')),
      `id: q:end\nevent: error\ndata: {"type":"error","errorText":"${message}","status":503,"error":{"type":"overloaded_error","code":503,"message":"${message}"},"body":${problem},"retryAfter":5}\n\n`,
    )
    equal(runs(), 0)
    await holder.release()
    equal((await client.request('GET', '/').response()).body, 'data: done\n\n')
    client.leave()
  })

  test('Case 29: gets an error event and a clean end when the queue is closed', async () => {
    const { site, queue, gate } = await openLine()
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('event: queue')
    const closed = gate.close()
    includes((await client.response()).body, '"code":"FQ_DRAINING"')
    await holder.release()
    await closed
    client.leave()
  })

  test.each<[string, AdapterOptions, object]>([
    ['message', { message: 'Please come back.' }, { errorText: 'Please come back.', status: 503, retryAfter: 5 }],
    [
      'handler',
      { handler: adapter.refusalHandler(({ json }) => json({ message: 'own' }, { status: 418 })) },
      { errorText: 'own', status: 418 },
    ],
  ])("gets the answer of the option '%s' as an error event, too", async (_option, options, data) => {
    const { site, queue } = await openLine({ maxWaitMs: 20, ...options })
    const holder = await queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    const { event, data: text } = readEventStream((await client.response()).body).events.at(-1)!
    matches([event, JSON.parse(text)], ['error', data])
    await holder.release()
    client.leave()
  })

  test('B36: that comes back after the end is told to stop, without taking a place', async () => {
    const { site, runs } = await openLine()
    const answer = await site.get('/', { ...asksForEvents, 'Last-Event-ID': 'q:end' })
    deepEqual([answer.status, answer.body, runs()], [204, '', 0])
    equal((await site.fetch('POST', '/', { 'Last-Event-ID': 'q:end' }, '')).status, 200)
  })

  test("Case 32: hides its own event ids from the handler, and leaves others'", async () => {
    const { gate } = openGate(adapter, { concurrency: 1, skip: () => true })
    const handler: Handler = ({ request, req, json }) =>
      json([headerOf(request, 'last-event-id') ?? null, req.rawHeaders.includes('q:abc')])
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    equal((await site.get('/', { 'Last-Event-ID': 'q:abc' })).body, '[null,false]')
    equal((await site.get('/', { 'Last-Event-ID': '42' })).body, '["42",false]')
  })

  test.each<[string, Record<string, string>, AdapterOptions]>([
    ['silently', {}, {}],
    ['told of its wait', asksForEvents, { statusDelayMs: 0 }],
  ])(
    'B32: loses its place, and its handler never runs, when another layer answers it while it waits %s',
    async (_how, headers, options) => {
      const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: '1m', ...options })
      let runs = 0
      let pending: ServerResponse | undefined
      const site = await openSite(adapter, {
        layers: [
          (_req, res, next) => {
            pending = res
            return next()
          },
        ],
        routes: [
          {
            path: '/',
            gate,
            handler: ({ text }) => {
              runs += 1
              return text('')
            },
          },
        ],
      })
      const holder = await queue.acquire()
      const client = (await site.connect()).request('GET', '/', headers)
      await waitingIs(queue, 1)
      if (headers === asksForEvents) await client.until('event: queue')
      pending!.statusCode = 504
      pending!.setHeader('Content-Type', 'application/json').end('{"message":"too slow"}')
      const { body } = await client.response()
      includes(body, 'too slow')
      await waitingIs(queue, 0)
      await holder.release()
      await runningIs(queue, 0)
      equal(runs, 0)
      client.leave()
    },
  )

  test.each(['writeHead', 'write', 'flush'] as const)(
    'whose response is wrapped by a layer that throws in %s is gone, and neither its place nor the process suffers',
    async (method) => {
      const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0 })
      const errors: unknown[] = []
      queue.on('error', (error) => errors.push(error))
      const site = await openSite(adapter, {
        layers: [
          (_req, res, next) => {
            ;(res as unknown as Record<string, unknown>)[method] = () => {
              throw new Error('wrapped badly')
            }
            return next()
          },
        ],
        routes: [{ path: '/', gate, handler: ({ raw }) => void raw().end() }],
      })
      const holder = await queue.acquire()
      const client = (await site.connect()).request('GET', '/', asksForEvents)
      await client.closed
      await waitingIs(queue, 0)
      deepEqual(errors, [new Error('wrapped badly')])
      await holder.release()
      await runningIs(queue, 0)
    },
  )

  test.each<[string, Record<string, string>]>([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])('loses nothing of a body that is read after the wait, %s', async (_how, headers) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0 })
    const handler: Handler = async ({ body, text }) => text(`data: ${(await body()).length}\n\n`, { headers: sse })
    const site = await openSite(adapter, { routes: [{ method: 'POST', path: '/', gate, handler }] })
    const holder = await queue.acquire()
    const client = (await site.connect()).request(
      'POST',
      '/',
      { ...headers, 'Content-Type': 'application/octet-stream' },
      'x'.repeat(1_000_000),
    )
    await waitingIs(queue, 1)
    await moment()
    await holder.release()
    includes((await client.response()).body, 'data: 1000000\n\n')
    client.leave()
  })
}
