import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { Http2Client, type Http2Request } from '../../kit/http2Client.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { asksForEvents, deferred, eventually, openGate, openSite, runningIs, waitingIs } from './site.js'
import { afterWait } from './twins.js'

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
        { path: '/gated', gate, handler },
        { path: '/bare', handler },
      ],
    })
    const client = new Http2Client(port)
    onTestFinished(() => client.leave())
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

  it.each<[string, Handler]>([
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
    expect([bare.headers[':status'], bare.body]).toEqual([200, EVENTS.join('')])
    expect([told.headers[':status'], told.headers['content-type'], answer]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      bare.body,
    ])
  })

  it.each<[string, Handler, RegExp]>([
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
    expect((await askBoth(handler)).answer).toMatch(event)
  })

  it('refuses with a problem document, and with no header that HTTP/2 forbids', async () => {
    const { queue, client } = await openLine(({ text }) => text('ran'))
    await queue.close({ graceMs: 0 })
    const refused = client.request('GET', '/gated')
    await refused.ended
    expect(refused.headers).toMatchObject({ ':status': 503, 'content-type': 'application/problem+json' })
    expect(refused.headers.connection).toBeUndefined()
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'FQ_DRAINING' })
  })

  it.each([
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
    expect(patient.body).toBe('ran')
    await runningIs(queue, 0)
    expect((await queue.status()).grants).toBe(2)
  })

  it('B27: aborts the signal of a handler whose stream is reset, keeps its place until it is done, and of no other', async () => {
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
    await eventually(() => aborted).toMatchObject(['/gated?cut', { code: 'FQ_CANCELLED' }])
    expect((await queue.status()).running).toBe(1)
    work.resolve()
    await runningIs(queue, 0)
  })
}
