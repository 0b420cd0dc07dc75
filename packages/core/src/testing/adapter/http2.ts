import { Readable } from 'node:stream'

import type { FairQueue } from '../../index.js'
import { Http2Client, type Http2Request } from './http2Client.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { asksForEvents, deferred, moment, openGate, openSite, runningIs, waitingIs } from './site.js'
import { afterWait } from './twins.js'
import { deepEqual, equal, eventually, matches } from '../assertions.js'
import { afterTest, test } from '../suite.js'

const EVENTS = ['data: a\n\n', 'data: b\n\n']
const sse = { 'Content-Type': 'text/event-stream' }

/** Where the framework serves HTTP/2. */
export function http2Tests(adapter: Adapter): void {
  const openLine = async (
    handler: Handler,
    options: AdapterOptions = {},
  ): Promise<{ readonly queue: FairQueue; readonly client: Http2Client }> => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0, ...options })
    const { port } = await openSite(adapter, {
      http2: true,
      routes: [
        { method: 'ALL', path: '/gated', gate, handler },
        { path: '/bare', handler },
      ],
    })
    const client = new Http2Client(port)
    afterTest(() => client.leave())
    return { queue, client }
  }

  /** Asks without a queue, and behind one after a wait of which the client was told. */
  const askBoth = async (handler: Handler): Promise<{ bare: Http2Request; told: Http2Request; answer: string }> => {
    const { queue, client } = await openLine(handler)
    const bare = client.request('GET', '/bare')
    await bare.ended
    const holder = await queue.acquire()
    const told = client.request('GET', '/gated', asksForEvents)
    await told.until('"state":"waiting"')
    await holder.release()
    await told.ended
    await runningIs(queue, 0)
    return { bare, told, answer: afterWait(told.body) }
  }

  test.each<[string, Handler]>([
    ["the framework's own stream", ({ stream }) => stream(Readable.from(EVENTS), { headers: sse })],
    ["the framework's own text", ({ text }) => text(EVENTS.join(''), { headers: sse })],
    [
      "Node's response",
      ({ raw }) => {
        const res = raw()
        res.writeHead(200, sse)
        for (const event of EVENTS) res.write(event)
        res.end()
      },
    ],
  ])('tells of the wait, then streams with %s, byte for byte', async (_what, handler) => {
    const { bare, told, answer } = await askBoth(handler)
    deepEqual([bare.headers[':status'], bare.body], [200, EVENTS.join('')])
    deepEqual(
      [told.headers[':status'], told.headers['content-type'], answer],
      [200, 'text/event-stream; charset=utf-8', bare.body],
    )
  })

  test.each<[string, Handler, RegExp]>([
    [
      'JSON',
      ({ json }) => json({ answer: 42 }),
      /event: response\ndata: \{"status":200,.*"body":\{"answer":42\}\}\n\n$/,
    ],
    [
      'an error thrown',
      () => {
        throw new Error('boom')
      },
      /event: error\ndata: \{"type":"error",.*"status":500/,
    ],
  ])('answers with %s, as one last event', async (_what, handler, event) => {
    matches((await askBoth(handler)).answer, event)
  })

  test('refuses with a problem document, and with no header that HTTP/2 forbids', async () => {
    const { queue, client } = await openLine(({ text }) => text('ran'))
    await queue.close({ graceMs: 0 })
    const refused = client.request('GET', '/gated')
    await refused.ended
    matches(refused.headers, { ':status': 503, 'content-type': 'application/problem+json' })
    equal(refused.headers.connection, undefined)
    matches(JSON.parse(refused.body), { code: 'FQ_DRAINING' })
  })

  test('Case 22: is told in its stream that its time is over, and its connection goes on', async () => {
    const { queue, client } = await openLine(({ text }) => text('ran'), { maxWaitMs: 50 })
    const holder = await queue.acquire()
    const told = client.request('GET', '/gated', asksForEvents)
    await told.ended
    matches(told.body, /"state":"waiting"[^]*\n\nid: q:end\nevent: error\ndata: .*"code":"FQ_WAIT_TIMEOUT".*\n\n$/)
    await holder.release()
    const next = client.request('GET', '/gated')
    await next.ended
    equal(next.body, 'ran')
  })

  test('B36: takes up again the place of a stream that was reset', async () => {
    const { queue, client } = await openLine(({ text }) => text('data: ran\n\n', { headers: sse }))
    const holder = await queue.acquire()
    const first = client.request('GET', '/gated', asksForEvents)
    await first.until('"state":"waiting"')
    const ticket = /"ticket":"([^"]+)"/.exec(first.body)![1]!
    const behind = client.request('GET', '/gated')
    await waitingIs(queue, 2)
    first.reset()
    await waitingIs(queue, 1)
    const back = client.request('GET', '/gated', { ...asksForEvents, 'last-event-id': `q:${ticket}` })
    await back.until('"state":"waiting"')
    matches(back.body, new RegExp(`"position":1,.*"ticket":"${ticket}"`))
    await holder.release()
    await Promise.all([back.ended, behind.ended])
    equal(afterWait(back.body), 'data: ran\n\n')
    await runningIs(queue, 0)
    equal((await queue.status()).grants, 3)
  })

  test('accepts with 202 who asks for it', async () => {
    const { queue, client } = await openLine(({ text }) => text('ran'))
    const holder = await queue.acquire()
    const accepted = client.request('POST', '/gated', { prefer: 'respond-async' })
    await accepted.ended
    matches(accepted.headers, { ':status': 202, location: /fairqueue-place=/, 'preference-applied': 'respond-async' })
    await holder.release()
  })

  test.each([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])('B40: loses nothing of a body that is read after the wait, %s', async (_how, headers) => {
    const { queue, client } = await openLine(async ({ body, text }) =>
      text(`data: ${(await body()).length}\n\n`, { headers: sse }),
    )
    const holder = await queue.acquire()
    const type = { 'content-type': 'application/octet-stream' }
    const upload = client.request('POST', '/gated', { ...headers, ...type }, 'x'.repeat(1_000_000))
    await waitingIs(queue, 1)
    await moment()
    await holder.release()
    await upload.ended
    matches(upload.body, /data: 1000000\n\n$/)
  })

  test('can read why its upload was refused, and its connection goes on', async () => {
    const { queue, client } = await openLine(({ text }) => text('ran'), { maxQueueSize: 0 })
    const holder = await queue.acquire()
    const type = { 'content-type': 'application/octet-stream' }
    const upload = client.request('POST', '/gated', type, 'x'.repeat(5_000_000))
    await upload.ended
    deepEqual([upload.headers[':status'], (JSON.parse(upload.body) as { code: string }).code], [503, 'FQ_QUEUE_FULL'])
    await holder.release()
    const next = client.request('GET', '/gated')
    await next.ended
    equal(next.body, 'ran')
  })

  test.each([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])('Case 25, B33: takes a reset stream for gone while it waits %s', async (_how, headers) => {
    const { queue, client } = await openLine(({ text }) => text('ran'))
    const holder = await queue.acquire()
    const waiting = client.request('GET', '/gated', headers)
    await waitingIs(queue, 1)
    if (headers === asksForEvents) await waiting.until('"state":"waiting"')
    const patient = client.request('GET', '/gated')
    await waitingIs(queue, 2)
    waiting.reset()
    await waitingIs(queue, 1)
    await holder.release()
    await patient.ended
    equal(patient.body, 'ran')
    await runningIs(queue, 0)
    equal((await queue.status()).grants, 2)
  })

  test('B27: aborts the signal of a handler whose stream is reset, keeps its place until it is done, and of no other', async () => {
    const work = deferred()
    const aborted: unknown[] = []
    const { queue, client } = await openLine(
      async ({ request, raw, text, place: { signal } }) => {
        signal.addEventListener('abort', () => aborted.push(request.originalUrl, signal.reason))
        if (request.originalUrl.endsWith('fine')) return text('fine')
        raw().write('begun')
        await work.promise
        return undefined
      },
      { concurrency: 2 },
    )
    const fine = client.request('GET', '/gated?fine')
    await fine.ended
    const cut = client.request('GET', '/gated?cut')
    await cut.until('begun')
    cut.reset()
    await eventually(() => matches(aborted, ['/gated?cut', { code: 'FQ_CANCELLED' }]))
    equal((await queue.status()).running, 1)
    work.resolve()
    await runningIs(queue, 0)
  })
}
