import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'

import type { Adapter, Handler, Layer } from './adapter.js'
import { deferred, moment } from './site.js'
import { afterWait, compare, cutBoth, finalEvent, openTwins } from './twins.js'
import { deepEqual, equal, eventually, excludes, includes, matches } from '../assertions.js'
import { test } from '../suite.js'

const SSE = 'text/event-stream'
const sse = { 'Content-Type': SSE }

/** Node's own response, on which all that a handler does must work as ever. */
const onResponse =
  (answer: (res: ServerResponse) => unknown): Handler =>
  ({ raw }) =>
    void answer(raw())

/** Streams of events in every way in which a handler can send one; `res.end` of the last event included. */
const streams: readonly (readonly [string, Handler])[] = [
  [
    'writeHead with an object',
    onResponse((res) =>
      tell(res.writeHead(200, { 'Content-Type': SSE, 'Cache-Control': 'no-cache', Connection: 'keep-alive' })),
    ),
  ],
  [
    'writeHead with a flat array',
    onResponse((res) => tell(res.writeHead(200, ['Content-Type', SSE, 'Cache-Control', 'no-cache']))),
  ],
  [
    'writeHead with pairs',
    onResponse((res) =>
      tell(
        res.writeHead(200, [
          ['Content-Type', SSE],
          ['Cache-Control', 'no-cache'],
        ] as never),
      ),
    ),
  ],
  ['writeHead with a text and an object', onResponse((res) => tell(res.writeHead(200, 'Fine', sse)))],
  [
    'writeHeader, the old name, where Node still has it',
    onResponse((res) => {
      const old = res as ServerResponse & { writeHeader?: ServerResponse['writeHead'] }
      tell(old.writeHeader === undefined ? res.writeHead(200, sse) : old.writeHeader(200, sse))
    }),
  ],
  ['writeHead with headers set before', onResponse((res) => tell(typed(res).writeHead(200)))],
  [
    'writeHead over headers set before',
    onResponse((res) =>
      tell(res.setHeader('Content-Type', 'application/json').writeHead(200, { 'content-type': SSE })),
    ),
  ],
  [
    'setHeader and flushHeaders',
    onResponse((res) => {
      typed(res).flushHeaders()
      setImmediate(() => tell(res))
    }),
  ],
  ['setHeaders with Headers', onResponse((res) => tell(res.setHeaders(new Headers({ 'content-type': SSE }))))],
  ['setHeaders with a Map', onResponse((res) => tell(res.setHeaders(new Map([['content-type', SSE]]))))],
  [
    'appendHeader and no writeHead',
    onResponse((res) => tell(res.appendHeader('Content-Type', `${SSE}; charset=utf-8`))),
  ],
  [
    'a status message',
    onResponse((res) => {
      res.statusMessage = 'Fine'
      tell(typed(res))
    }),
  ],
  [
    'buffers, encodings and callbacks',
    onResponse((res) => {
      typed(res).write(Buffer.from('data: é\n\n'), () => {
        res.write('646174613a20680a0a', 'hex', () => {
          res.end(new Uint8Array(Buffer.from('data: end\n\n')), () => undefined)
        })
      })
    }),
  ],
  [
    'corked writes',
    onResponse((res) => {
      typed(res).cork()
      res.write('data: a\n\n')
      res.write('data: b\n\n')
      process.nextTick(() => res.uncork())
      setImmediate(() => res.end())
    }),
  ],
  ['a piped stream', onResponse((res) => Readable.from(['data: a\n\n', 'data: b\n\n']).pipe(typed(res)))],
  [
    'a pipeline',
    onResponse((res) => pipeline(Readable.from(['data: a\n\n', 'data: b\n\n']), typed(res), () => undefined)),
  ],
  [
    'writes over time',
    async ({ raw }) => {
      const res = typed(raw())
      for (let i = 0; i < 5; i += 1) {
        res.write(`id: ${i}\ndata: ${i}\n\n`)
        await moment(1)
      }
      res.end()
    },
  ],
  [
    'more than a socket takes at once',
    async ({ raw }) => {
      const res = typed(raw())
      for (let i = 0; i < 20; i += 1) {
        if (!res.write(`data: ${String(i).repeat(64 * 1024)}\n\n`))
          await new Promise((resolve) => res.once('drain', resolve))
      }
      res.end()
    },
  ],
  ['end alone', onResponse((res) => typed(res).end('data: a\n\n'))],
  ["the framework's own text", ({ text }) => text('data: a\n\n', { headers: sse })],
  ["the framework's own bytes", ({ text }) => text(Buffer.from('data: a\n\n'), { headers: sse })],
  [
    "the framework's own stream",
    ({ stream }) => stream(Readable.from(['data: a\n\n', 'data: b\n\n']), { headers: sse }),
  ],
]

function typed(res: ServerResponse): ServerResponse {
  return res.setHeader('Content-Type', SSE)
}

function tell(res: ServerResponse): void {
  res.write('data: a\n\n')
  res.write('event: b\ndata: {"b":1}\n\n')
  res.end('data: [DONE]\n\n')
}

/** The codes of what acts throw. */
function codesOf(acts: readonly (() => unknown)[]): unknown[] {
  return acts.map((act) => {
    try {
      act()
      return undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  })
}

export function handlerTests(adapter: Adapter): void {
  test.each(streams)('Cases 1, 2 and 10: streams with %s, byte for byte', async (_what, handler) => {
    const { gated, bare, answer, warnings } = await compare(adapter, handler)
    equal(bare.status, 200)
    matches(bare.header('content-type'), /^text\/event-stream/)
    equal(answer.body, bare.body)
    deepEqual([gated.status, gated.header('content-type')], [200, 'text/event-stream; charset=utf-8'])
    deepEqual(warnings, [])
  })

  test('has each write sent when it is made', async () => {
    const seen = deferred()
    const handler = onResponse((res) => {
      typed(res).write('data: a\n\n')
      void seen.promise.then(() => res.end('data: b\n\n'))
    })
    const client = await (await openTwins(adapter, { handler })).enter()
    await client.until('data: a')
    seen.resolve()
    equal(afterWait((await client.response()).body), 'data: a\n\ndata: b\n\n')
    client.leave()
  })

  test('sees a response as fresh as without a queue, until it answers', async () => {
    const seen: Record<string, unknown>[] = []
    const look = (res: ServerResponse): Record<string, unknown> => ({
      sent: res.headersSent,
      status: res.statusCode,
      message: res.statusMessage,
      names: res.getHeaderNames(),
      headers: { ...res.getHeaders() },
      has: res.hasHeader('X-Before'),
      one: res.getHeader('x-before'),
    })
    const own = (res: ServerResponse): string[] =>
      Object.keys(res).filter((name) => name !== 'statusCode' && /head|write|end/i.test(name) && !name.startsWith('_'))
    const before: Layer = (_req, res, next) => {
      res.setHeader('X-Before', 'yes')
      return next()
    }
    const { answer, bare } = await compare(adapter, {
      layers: [before],
      handler: ({ raw }) => {
        const res = raw()
        const untouched = look(res)
        res.setHeader('X-Before', 'changed').removeHeader('X-Before')
        const changed = look(res)
        typed(res).write('data: a\n\n')
        seen.push({ untouched, changed, after: { sent: res.headersSent, own: own(res) } })
        res.end()
      },
    })
    equal(answer.body, bare.body)
    deepEqual(seen[1], seen[0])
    matches(seen[1], { untouched: { sent: false, status: 200, one: 'yes' }, after: { sent: true } })
  })

  test('Case 15: still gets ERR_HTTP_HEADERS_SENT for what comes too late', async () => {
    const codes: unknown[][] = []
    await compare(adapter, ({ raw }) => {
      const res = typed(raw())
      res.write('data: a\n\n')
      codes.push(
        codesOf([
          () => res.setHeader('a', 'b'),
          () => res.removeHeader('a'),
          () => res.writeHead(200),
          () => res.appendHeader('a', 'b'),
        ]),
      )
      res.end()
    })
    deepEqual(codes[1], codes[0])
    deepEqual(
      codes[0],
      Array.from({ length: 4 }, () => 'ERR_HTTP_HEADERS_SENT'),
    )
  })

  test("gets Node's own errors for headers and statuses that cannot be", async () => {
    const codes: unknown[][] = []
    await compare(adapter, ({ raw }) => {
      const res = raw()
      codes.push(
        codesOf([
          () => res.setHeader('a b', 'c'),
          () => res.setHeader('a', 'b\r\nc: d'),
          () => res.setHeader('a', undefined as never),
          () => res.writeHead(1),
        ]),
      )
      res.statusCode = 200
      typed(res).end()
    })
    deepEqual(codes[1], codes[0])
    excludes(codes[0], undefined)
  })

  test('Case 18: cannot break the stream with interim answers', async () => {
    const { answer } = await compare(adapter, ({ raw, place }) => {
      const res = raw()
      if (place === undefined) {
        tell(typed(res))
        return
      }
      res.writeProcessing()
      res.writeContinue()
      res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => tell(typed(res)))
    })
    equal(answer.body, 'data: a\n\nevent: b\ndata: {"b":1}\n\ndata: [DONE]\n\n')
  })

  test('fires the wrappers that inner layers put around writeHead, write and end', async () => {
    const fired: string[] = []
    const { answer, bare } = await compare(adapter, ({ raw }) => {
      const res = raw()
      for (const name of ['writeHead', 'write', 'end'] as const) {
        const inner = res[name] as (...args: unknown[]) => unknown
        ;(res as unknown as Record<string, unknown>)[name] = (...args: unknown[]): unknown => {
          fired.push(name)
          return inner.apply(res, args)
        }
      }
      tell(typed(res))
    })
    equal(answer.body, bare.body)
    const half = fired.length / 2
    deepEqual(fired.slice(half), fired.slice(0, half))
    includes(fired, 'writeHead')
  })

  test('Case 16: keeps the headers of the layers before the queue, and reports those that came too late, once', async () => {
    const { gated, warnings } = await compare(adapter, {
      headers: {
        'Access-Control-Allow-Origin': '*',
        'Set-Cookie': 'session=a',
        'Content-Length': '5',
        ETag: 'W/"1"',
      },
      handler: ({ raw }) => {
        const res = raw()
        res.appendHeader('Set-Cookie', 'late=b').setHeader('X-Late', '1').removeHeader('Content-Length')
        tell(typed(res))
      },
    })
    equal(gated.header('access-control-allow-origin'), '*')
    equal(gated.header('set-cookie'), 'session=a')
    deepEqual(
      [gated.header('content-length'), gated.header('etag'), gated.header('x-late')],
      [undefined, undefined, undefined],
    )
    equal(gated.header('cache-control'), 'no-cache, no-transform')
    equal(gated.header('x-accel-buffering'), 'no')
    matches(warnings, [/set-cookie, x-late/])
  })

  test.each<readonly [string, Handler, string, object]>([
    ['JSON', ({ json }) => json({ answer: 42 }), 'response', { status: 200, body: { answer: 42 } }],
    [
      'a status and a text',
      ({ text }) => text('made', { status: 201, headers: { 'X-Own': 'yes', 'Content-Type': 'text/plain' } }),
      'response',
      { status: 201, body: 'made', headers: { 'x-own': 'yes', 'content-type': /^text\/plain/ } },
    ],
    ['204', ({ text }) => text('', { status: 204 }), 'response', { status: 204, body: null }],
    ['no body and no status', onResponse((res) => res.end()), 'response', { status: 200, body: null }],
    [
      'lines of JSON',
      ({ text }) => text('{"a":1}\n{"a":2}\n', { headers: { 'Content-Type': 'application/x-ndjson' } }),
      'response',
      { body: '{"a":1}\n{"a":2}\n' },
    ],
    [
      'JSON that is none',
      onResponse((res) => res.setHeader('Content-Type', 'application/json').end('{')),
      'response',
      { body: '{' },
    ],
    [
      'bytes',
      ({ text }) => text(Buffer.from([1, 2, 255]), { headers: { 'Content-Type': 'image/png' } }),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a stream of bytes',
      ({ stream }) =>
        stream(Readable.from([Buffer.from([1, 2]), Buffer.from([255])]), { headers: { 'Content-Type': 'image/png' } }),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a compressed body',
      onResponse((res) =>
        res
          .setHeader('Content-Encoding', 'gzip')
          .setHeader('Content-Type', 'text/plain')
          .end(Buffer.from([1, 2, 255])),
      ),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a stream of events that is compressed',
      onResponse((res) => typed(res.setHeader('Content-Encoding', 'gzip')).end(Buffer.from([1, 2, 255]))),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a cookie, which no script may see',
      ({ json }) => json({ a: 1 }, { headers: { 'Set-Cookie': 'a=b' } }),
      'response',
      { body: { a: 1 }, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    [
      'a long body, cut',
      ({ text }) => text('x'.repeat(70_000), { headers: { 'Content-Type': 'text/plain' } }),
      'response',
      { body: 'x'.repeat(65_536), truncated: true },
    ],
    [
      'a redirect',
      ({ text }) => text('', { status: 302, headers: { Location: '/elsewhere' } }),
      'error',
      { status: 302, errorText: 'Found', location: '/elsewhere' },
    ],
    [
      'a status and JSON',
      ({ json }) => json({ error: { message: 'slow down' } }, { status: 429 }),
      'error',
      {
        status: 429,
        errorText: 'slow down',
        error: { type: 'rate_limit_error', code: 429, message: 'slow down' },
        body: { error: { message: 'slow down' } },
      },
    ],
    [
      'an error status in a stream of events',
      ({ text }) => text('data: x\n\n', { status: 500, headers: sse }),
      'error',
      { status: 500, errorText: 'data: x\n\n', body: 'data: x\n\n' },
    ],
    [
      'writeHead and a text',
      onResponse((res) => res.writeHead(418, 'Short and stout', { 'content-type': 'text/plain' }).end('teapot')),
      'error',
      { status: 418, errorText: 'teapot' },
    ],
    [
      'an error thrown',
      () => {
        throw new Error('boom')
      },
      'error',
      { status: 500, error: { type: 'api_error', code: 500 } },
    ],
    [
      'an error thrown after a while',
      async () => {
        await moment(1)
        throw new Error('boom')
      },
      'error',
      { status: 500, error: { type: 'api_error', code: 500 } },
    ],
    [
      'an error that has a status',
      () => {
        throw Object.assign(new Error('closed'), { status: 403, statusCode: 403 })
      },
      'error',
      { status: 403, error: { type: 'permission_error', code: 403 } },
    ],
  ])('Cases 12 and 13: answers with %s, as one last event', async (_what, handler, name, data) => {
    const { gated, answer } = await compare(adapter, handler)
    const event = finalEvent(answer.body)
    equal(event.name, name)
    matches(event.data, data)
    equal(gated.status, 200)
    excludes(answer.body, 'a=b')
  })

  test('Case 12: answers through an error handler of the application, as one last event', async () => {
    const { bare, answer } = await compare(adapter, {
      showErrors: true,
      handler: () => {
        throw new Error('boom')
      },
    })
    deepEqual([bare.status, bare.body], [500, 'boom'])
    matches(finalEvent(answer.body).data, { status: 500, errorText: 'boom', body: 'boom' })
  })

  test.each<readonly [string, Handler]>([
    [
      'a stream that fails',
      onResponse((res) => {
        const source = new Readable({ read: () => undefined })
        source.push('data: a\n\n')
        pipeline(source, typed(res), () => undefined)
        setImmediate(() => source.destroy(new Error('boom')))
      }),
    ],
    [
      'res.destroy()',
      onResponse((res) => {
        typed(res).write('data: a\n\n')
        setImmediate(() => res.destroy())
      }),
    ],
  ])('Case 14: is cut by %s after its first byte, as without a queue', async (_what, handler) => {
    const { bare, gated } = await cutBoth(await openTwins(adapter, { handler }))
    deepEqual(bare, { body: 'data: a\n\n', complete: false })
    deepEqual(gated, bare)
  })

  test('keeps a connection alive that was told of its wait', async () => {
    const twins = await openTwins(adapter, { handler: onResponse((res) => tell(typed(res))) })
    const client = await twins.enter()
    await client.response()
    const again = await client.request('GET', '/gated').response()
    equal(again.body, 'data: a\n\nevent: b\ndata: {"b":1}\n\ndata: [DONE]\n\n')
    client.leave()
  })

  test('takes callbacks of writes and of end, also for an answer that becomes one event', async () => {
    const called: string[] = []
    const { answer } = await compare(adapter, async ({ raw }) => {
      const res = raw()
      res.statusCode = 500
      res.setHeader('Content-Type', 'text/plain')
      await promisify<string, BufferEncoding>(res.write.bind(res))('a', 'utf8')
      called.push('write')
      res.end('b', () => called.push('end'))
    })
    matches(finalEvent(answer.body).data, { body: 'ab' })
    await eventually(() => deepEqual(called, ['write', 'end', 'write', 'end']))
  })
}
