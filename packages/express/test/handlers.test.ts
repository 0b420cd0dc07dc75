import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { RequestHandler, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { compare, openTwins } from './behindEarlyHead.js'
import { eventually, expressVersions } from './site.js'

const SSE = 'text/event-stream'

/** Streams of events in every way in which a handler can send one; `res.end` of the last event included. */
const streams: readonly (readonly [string, RequestHandler])[] = [
  [
    'writeHead with an object',
    (_req, res) =>
      tell(res.writeHead(200, { 'Content-Type': SSE, 'Cache-Control': 'no-cache', Connection: 'keep-alive' })),
  ],
  [
    'writeHead with a flat array',
    (_req, res) => tell(res.writeHead(200, ['Content-Type', SSE, 'Cache-Control', 'no-cache'])),
  ],
  [
    'writeHead with pairs',
    (_req, res) =>
      tell(
        res.writeHead(200, [
          ['Content-Type', SSE],
          ['Cache-Control', 'no-cache'],
        ] as never),
      ),
  ],
  ['writeHead with a text and an object', (_req, res) => tell(res.writeHead(200, 'Fine', { 'Content-Type': SSE }))],
  ['writeHead with headers set before', (_req, res) => tell(res.type(SSE).writeHead(200))],
  ['writeHead over headers set before', (_req, res) => tell(res.type('json').writeHead(200, { 'content-type': SSE }))],
  [
    'setHeader and flushHeaders',
    (_req, res) => {
      res.setHeader('Content-Type', SSE)
      res.flushHeaders()
      setImmediate(() => tell(res))
    },
  ],
  ['setHeaders with Headers', (_req, res) => tell(res.setHeaders(new Headers({ 'content-type': SSE })))],
  ['setHeaders with a Map', (_req, res) => tell(res.setHeaders(new Map([['content-type', SSE]])))],
  ['appendHeader and no writeHead', (_req, res) => tell(res.appendHeader('Content-Type', `${SSE}; charset=utf-8`))],
  [
    'a status message',
    (_req, res) => {
      res.statusMessage = 'Fine'
      tell(res.status(200).type(SSE))
    },
  ],
  [
    'buffers, encodings and callbacks',
    (_req, res) => {
      res.type(SSE)
      res.write(Buffer.from('data: é\n\n'), () => {
        res.write('646174613a20680a0a', 'hex', () => {
          res.end(new Uint8Array(Buffer.from('data: end\n\n')), () => undefined)
        })
      })
    },
  ],
  [
    'corked writes',
    (_req, res) => {
      res.type(SSE).cork()
      res.write('data: a\n\n')
      res.write('data: b\n\n')
      process.nextTick(() => res.uncork())
      setImmediate(() => res.end())
    },
  ],
  ['a piped stream', (_req, res) => void Readable.from(['data: a\n\n', 'data: b\n\n']).pipe(res.type(SSE))],
  [
    'a pipeline',
    (_req, res) => void pipeline(Readable.from(['data: a\n\n', 'data: b\n\n']), res.type(SSE), () => undefined),
  ],
  [
    'writes over time',
    async (_req, res) => {
      res.type(SSE)
      for (let i = 0; i < 5; i += 1) {
        res.write(`id: ${i}\ndata: ${i}\n\n`)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      res.end()
    },
  ],
  [
    'more than a socket takes at once',
    async (_req, res) => {
      res.type(SSE)
      for (let i = 0; i < 20; i += 1) {
        if (!res.write(`data: ${String(i).repeat(64 * 1024)}\n\n`))
          await new Promise((resolve) => res.once('drain', resolve))
      }
      res.end()
    },
  ],
  ['res.send', (_req, res) => void res.type(SSE).send('data: a\n\n')],
  ['end alone', (_req, res) => void res.type(SSE).end('data: a\n\n')],
]

function tell(res: Response): void {
  res.write('data: a\n\n')
  res.write('event: b\ndata: {"b":1}\n\n')
  res.end('data: [DONE]\n\n')
}

/** The one event that an answer became. */
function finalEvent(body: string): { readonly name: string; readonly data: Record<string, unknown> } {
  const [, name, data] = /^id: q:end\nevent: (\w+)\ndata: (.*)\n\n$/.exec(body) ?? []
  return { name: name!, data: JSON.parse(data!) as Record<string, unknown> }
}

describe.each(expressVersions)('A handler behind an early head on $version', ({ framework }) => {
  it.each(streams)('streams with %s, byte for byte', async (_what, handler) => {
    const { gated, bare, answer, warnings } = await compare(framework, (app, gate, path) =>
      app.get(path, gate, handler),
    )
    expect(bare.header('content-type')).toMatch(/^text\/event-stream/)
    expect(answer.body).toBe(bare.body)
    expect(answer.chunks).toEqual(bare.chunks.length > 0 ? bare.chunks : [bare.body])
    expect([gated.status, gated.header('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(warnings).toEqual([])
  })

  it('sees a response as fresh as without a queue, until it answers', async () => {
    const seen: Record<string, unknown>[] = []
    const look = (res: Response): Record<string, unknown> => ({
      sent: res.headersSent,
      status: res.statusCode,
      message: res.statusMessage,
      names: res.getHeaderNames(),
      headers: { ...res.getHeaders() },
      has: res.hasHeader('X-Before'),
      one: res.getHeader('x-before'),
    })
    const own = (res: Response): string[] => Object.keys(res).filter((name) => name !== 'statusCode')
    const { answer, bare } = await compare(framework, (app, gate, path) => {
      app.use(path, (_req, res, next) => {
        res.set('X-Before', 'yes')
        next()
      })
      app.get(path, gate, (_req, res) => {
        const before = look(res)
        res.set('X-Before', 'changed').removeHeader('X-Before')
        const changed = look(res)
        res.set('Content-Type', SSE).write('data: a\n\n')
        const after = {
          sent: res.headersSent,
          own: own(res).filter((name) => /head|write|end/i.test(name) && !name.startsWith('_')),
        }
        seen.push({ before, changed, after })
        res.end()
      })
    })
    expect(answer.body).toBe(bare.body)
    expect(seen[1]).toEqual(seen[0])
    expect(seen[1]).toMatchObject({
      before: { sent: false, status: 200, one: 'yes' },
      changed: { names: [] },
      after: { sent: true },
    })
  })

  it('still gets ERR_HTTP_HEADERS_SENT for what comes too late', async () => {
    const codes: unknown[][] = []
    await compare(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res) => {
        const late: unknown[] = []
        res.type(SSE).write('data: a\n\n')
        for (const act of [
          () => res.setHeader('a', 'b'),
          () => res.removeHeader('a'),
          () => res.writeHead(200),
          () => res.appendHeader('a', 'b'),
        ]) {
          try {
            act()
          } catch (error) {
            late.push((error as NodeJS.ErrnoException).code)
          }
        }
        codes.push(late)
        res.end()
      })
    })
    expect(codes[1]).toEqual(codes[0])
    expect(codes[0]).toEqual(Array.from({ length: 4 }, () => 'ERR_HTTP_HEADERS_SENT'))
  })

  it("gets Node's own errors for headers and statuses that cannot be", async () => {
    const codes: unknown[][] = []
    await compare(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res) => {
        const found: unknown[] = []
        for (const act of [
          () => res.setHeader('a b', 'c'),
          () => res.setHeader('a', 'b\r\nc: d'),
          () => res.setHeader('a', undefined as never),
          () => res.writeHead(1),
        ]) {
          try {
            act()
          } catch (error) {
            found.push((error as NodeJS.ErrnoException).code)
          }
        }
        codes.push(found)
        res.type(SSE).end()
      })
    })
    expect(codes[1]).toEqual(codes[0])
    expect(codes[0]).toHaveLength(4)
  })

  it('cannot break the stream with interim answers', async () => {
    const { answer } = await compare(framework, (app, gate, path) => {
      app.get(path, gate, (req, res) => {
        const gated = req.fairQueue !== undefined
        if (!gated) {
          tell(res.type(SSE))
          return
        }
        res.writeProcessing()
        res.writeContinue()
        res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => tell(res.type(SSE)))
      })
    })
    expect(answer.chunks).toEqual(['data: a\n\n', 'event: b\ndata: {"b":1}\n\n', 'data: [DONE]\n\n'])
  })

  it('fires the wrappers that inner layers put around writeHead, write and end', async () => {
    const fired: string[] = []
    const { answer, bare } = await compare(framework, (app, gate, path) => {
      const wrap: RequestHandler = (_req, res, next) => {
        for (const name of ['writeHead', 'write', 'end'] as const) {
          const inner = res[name] as (...args: unknown[]) => unknown
          ;(res as unknown as Record<string, unknown>)[name] = (...args: unknown[]): unknown => {
            fired.push(name)
            return inner.apply(res, args)
          }
        }
        next()
      }
      app.get(path, gate, wrap, (_req, res) => tell(res.type(SSE)))
    })
    expect(answer.chunks).toEqual(bare.chunks)
    const half = fired.length / 2
    expect(fired.slice(half)).toEqual(fired.slice(0, half))
    expect(fired).toContain('writeHead')
  })

  it('keeps the headers of the layers before the queue, and reports those that came too late, once', async () => {
    const { gated, warnings } = await compare(framework, (app, gate, path) => {
      app.get(
        path,
        (_req, res, next) => {
          res
            .set('Access-Control-Allow-Origin', '*')
            .cookie('session', 'a')
            .set('Content-Length', '5')
            .set('ETag', 'W/"1"')
          next()
        },
        gate,
        (_req, res) => {
          res.cookie('late', 'b').set('X-Late', '1').removeHeader('Content-Length')
          tell(res.type(SSE))
        },
      )
    })
    expect(gated.header('access-control-allow-origin')).toBe('*')
    expect(gated.header('set-cookie')).toBe('session=a; Path=/')
    expect([gated.header('content-length'), gated.header('etag'), gated.header('x-late')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(gated.header('cache-control')).toBe('no-cache, no-transform')
    expect(gated.header('x-accel-buffering')).toBe('no')
    expect(warnings).toEqual([expect.stringContaining('set-cookie, x-late')])
  })

  it.each<readonly [string, RequestHandler, string, object]>([
    ['res.json', (_req, res) => void res.json({ answer: 42 }), 'response', { status: 200, body: { answer: 42 } }],
    [
      'a status and a text',
      (_req, res) => void res.status(201).set('X-Own', 'yes').send('made'),
      'response',
      { status: 201, body: 'made', headers: { 'x-own': 'yes', 'content-type': 'text/html; charset=utf-8' } },
    ],
    ['204', (_req, res) => void res.sendStatus(204), 'response', { status: 204, body: null }],
    ['no body and no status', (_req, res) => void res.end(), 'response', { status: 200, body: null }],
    [
      'lines of JSON',
      (_req, res) => void res.type('application/x-ndjson').send('{"a":1}\n{"a":2}\n'),
      'response',
      { body: '{"a":1}\n{"a":2}\n' },
    ],
    ['JSON that is none', (_req, res) => void res.type('json').end('{'), 'response', { body: '{' }],
    [
      'bytes',
      (_req, res) => void res.type('png').send(Buffer.from([1, 2, 255])),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a compressed body',
      (_req, res) =>
        void res
          .set('Content-Encoding', 'gzip')
          .type('text')
          .end(Buffer.from([1, 2, 255])),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a stream of events that is compressed',
      (_req, res) =>
        void res
          .set('Content-Encoding', 'gzip')
          .type(SSE)
          .end(Buffer.from([1, 2, 255])),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a cookie, which no script may see',
      (_req, res) => void res.cookie('a', 'b').json(1),
      'response',
      { body: 1, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    [
      'a long body, cut',
      (_req, res) => void res.type('text').send('x'.repeat(70_000)),
      'response',
      { body: 'x'.repeat(65_536), truncated: true },
    ],
    [
      'res.redirect',
      (_req, res) => res.redirect('/elsewhere'),
      'error',
      { status: 302, errorText: 'Found', location: '/elsewhere' },
    ],
    [
      'a status and JSON',
      (_req, res) => void res.status(429).json({ error: { message: 'slow down' } }),
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
      (_req, res) => void res.status(500).type(SSE).end('data: x\n\n'),
      'error',
      { status: 500, errorText: 'data: x\n\n', body: 'data: x\n\n' },
    ],
    [
      'writeHead and a text',
      (_req, res) => void res.writeHead(418, 'Short and stout', { 'content-type': 'text/plain' }).end('teapot'),
      'error',
      { status: 418, errorText: 'teapot' },
    ],
    ['next()', (_req, _res, next) => next(), 'error', { status: 404, errorText: 'Not Found' }],
    [
      'next(err)',
      (_req, _res, next) => next(new Error('boom')),
      'error',
      {
        status: 500,
        errorText: 'Internal Server Error',
        error: { type: 'api_error', code: 500, message: 'Internal Server Error' },
      },
    ],
    [
      'next(err) with a status',
      (_req, _res, next) => next(Object.assign(new Error('closed'), { status: 403 })),
      'error',
      { status: 403, error: { type: 'permission_error', code: 403, message: 'Forbidden' } },
    ],
    [
      'an error thrown',
      () => {
        throw new Error('boom')
      },
      'error',
      { status: 500 },
    ],
    ['a file that is not there', (_req, res) => res.sendFile('/nowhere/at/all'), 'error', { status: 404 }],
  ])('answers with %s, as one last event', async (_what, handler, name, data) => {
    const { gated, answer } = await compare(framework, (app, gate, path) => app.get(path, gate, handler))
    const event = finalEvent(answer.body)
    expect(event.name).toBe(name)
    expect(event.data).toMatchObject(data)
    expect(gated.status).toBe(200)
    expect(answer.body).not.toContain('a=b')
  })

  it('answers with res.sendFile, as one last event', async () => {
    const { bare, answer } = await compare(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res) => res.sendFile(new URL('../package.json', import.meta.url).pathname))
    })
    expect(finalEvent(answer.body).data).toMatchObject({ status: 200, body: JSON.parse(bare.body) })
  })

  it('answers through an error handler of the app, as one last event', async () => {
    const { bare, answer } = await compare(framework, (app, gate, path) => {
      app.get(path, gate, (_req, _res, next) => next(new Error('boom')))
      app.use(path, (error: Error, _req: unknown, res: Response, next: (error: unknown) => void) => {
        if (res.headersSent) next(error)
        else res.status(502).json({ detail: error.message })
      })
    })
    expect(JSON.parse(bare.body)).toEqual({ detail: 'boom' })
    expect(finalEvent(answer.body).data).toMatchObject({ status: 502, errorText: 'boom', body: { detail: 'boom' } })
  })

  it.each<readonly [string, RequestHandler]>([
    [
      'next(err)',
      (_req, res, next) => {
        res.type(SSE).write('data: a\n\n')
        setImmediate(() => next(new Error('boom')))
      },
    ],
    [
      'a stream that fails',
      (_req, res) => {
        const source = new Readable({ read: () => undefined })
        source.push('data: a\n\n')
        pipeline(source, res.type(SSE), () => undefined)
        setImmediate(() => source.destroy(new Error('boom')))
      },
    ],
    [
      'res.destroy()',
      (_req, res) => {
        res.type(SSE).write('data: a\n\n')
        setImmediate(() => res.destroy())
      },
    ],
  ])('is cut by %s after its first byte, as without a queue', async (_what, handler) => {
    const twins = await openTwins(framework, (app, gate, path) => app.get(path, gate, handler))
    const bare = (await twins.connect()).request('GET', '/bare')
    const gated = await twins.enter()
    await Promise.all([bare.closed, gated.closed])
    const tail = bare.received.slice(bare.received.indexOf('\r\n\r\n') + 4)
    const end = gated.received.slice(gated.received.indexOf('"state":"admitted"'))
    expect(tail).toBe('9\r\ndata: a\n\n\r\n')
    expect(end.slice(end.indexOf('\r\n') + 2)).toBe(tail)
  })

  it('is cut, and not ended cleanly, by an error thrown after its first byte', async () => {
    const twins = await openTwins(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res) => {
        res.type(SSE).write('data: a\n\n')
        throw new Error('boom')
      })
    })
    const gated = await twins.enter()
    await gated.closed
    expect(gated.received).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it('keeps a connection alive that was told of its wait', async () => {
    const twins = await openTwins(framework, (app, gate, path) =>
      app.get(path, gate, (_req, res) => tell(res.type(SSE))),
    )
    const client = await twins.enter()
    await client.response()
    const again = await client.request('GET', '/gated').response()
    expect(again.body).toBe('data: a\n\nevent: b\ndata: {"b":1}\n\ndata: [DONE]\n\n')
    client.leave()
  })

  it('takes callbacks of writes and of end, also for an answer that becomes one event', async () => {
    const called: string[] = []
    const { answer } = await compare(framework, (app, gate, path) => {
      app.get(path, gate, async (_req, res) => {
        res.status(500).type('text')
        await promisify<string, BufferEncoding>(res.write.bind(res))('a', 'utf8')
        called.push('write')
        res.end('b', () => called.push('end'))
      })
    })
    expect(finalEvent(answer.body).data).toMatchObject({ body: 'ab' })
    await eventually(() => called).toEqual(['write', 'end', 'write', 'end'])
  })
})
