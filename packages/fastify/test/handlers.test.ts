import { PassThrough, Readable } from 'node:stream'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import type { FastifyReply, RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { deferred } from '@fairqueue/test/kit/site'
import { afterWait } from '@fairqueue/core/testing/adapter'
import { compare, finalEvent, openTwins, type Mount } from './behindEarlyHead.js'

const SSE = 'text/event-stream'
const EVENTS = ['data: a\n\n', 'event: b\ndata: {"b":1}\n\n', 'data: [DONE]\n\n']

function tell({ raw }: FastifyReply): void {
  for (const event of EVENTS) raw.write(event)
  raw.end()
}

/** Gives events one by one; those after the first as soon as something has happened. */
function source(happened?: Promise<void>): Readable {
  const [first, ...others] = EVENTS
  return Readable.from(
    (async function* () {
      yield first
      await happened
      yield* others
    })(),
  )
}

class FailingStream extends Readable {
  override _read(): void {
    this.destroy(new Error('boom'))
  }
}

/** A route with a handler. */
const route =
  (handler: RouteHandlerMethod, options: RouteShorthandOptions = {}): Mount =>
  (app, path, config) =>
    app.get(path, { ...options, config }, handler)

/** Streams of events in every way in which a handler can send one. */
const streams: readonly (readonly [string, RouteHandlerMethod])[] = [
  ['reply.send of text', (_request, reply) => void reply.type(SSE).send(EVENTS.join(''))],
  ['reply.send of a buffer', (_request, reply) => void reply.type(SSE).send(Buffer.from(EVENTS.join('')))],
  ['reply.send of a stream', (_request, reply) => void reply.type(SSE).send(source())],
  ['a returned reply', (_request, reply) => reply.type(SSE).send(source())],
  [
    'a returned stream',
    (_request, reply) => {
      reply.type(SSE)
      return source()
    },
  ],
  [
    'an async function that returns a stream',
    async (_request, reply) => {
      await new Promise((resolve) => setImmediate(resolve))
      reply.type(SSE)
      return source()
    },
  ],
  [
    'an async function that awaits the reply',
    async (_request, reply) => {
      await reply.type(SSE).send(source())
    },
  ],
  ['a web stream', (_request, reply) => reply.type(SSE).send(Readable.toWeb(source()))],
  [
    'a Response',
    (_request, reply) =>
      reply.send(new Response(Readable.toWeb(source()) as ReadableStream, { headers: { 'Content-Type': SSE } })),
  ],
  [
    'a stream that is written to later',
    (_request, reply) => {
      const stream = new PassThrough()
      void reply.type(SSE).send(stream)
      let at = 0
      const next = (): void => {
        if (at === EVENTS.length) stream.end()
        else stream.write(EVENTS[at++], () => setImmediate(next))
      }
      setImmediate(next)
    },
  ],
  [
    'raw.writeHead, hijacked',
    (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { 'Content-Type': SSE, 'Cache-Control': 'no-cache', Connection: 'keep-alive' })
      tell(reply)
    },
  ],
  [
    'raw.writeHead with a flat array, hijacked',
    (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, 'Fine', ['Content-Type', SSE])
      tell(reply)
    },
  ],
  [
    'raw.setHeader and flushHeaders, without hijack',
    (_request, reply) => {
      reply.raw.setHeader('Content-Type', SSE)
      reply.raw.flushHeaders()
      setImmediate(() => tell(reply))
    },
  ],
  [
    'raw.writeHead in an async function that returns the reply',
    async (_request, reply) => {
      reply.raw.writeHead(200, { 'Content-Type': SSE })
      tell(reply)
      return reply
    },
  ],
  [
    'raw writes over time in an async function',
    async (_request, reply) => {
      reply.hijack()
      reply.raw.writeHead(200, { ...reply.getHeaders(), 'Content-Type': SSE } as never)
      for (const event of EVENTS) {
        reply.raw.write(event)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      reply.raw.end()
    },
  ],
]

describe('A handler behind an early head', () => {
  it.each(streams)('Cases 1, 2, 7 and 8: streams with %s, byte for byte', async (_what, handler) => {
    const { gated, bare, answer, warnings } = await compare(route(handler))
    expect(bare.header('content-type')).toMatch(/^text\/event-stream/)
    expect(bare.body).toBe(EVENTS.join(''))
    expect(answer.body).toBe(bare.body)
    expect([gated.status, gated.header('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(warnings).toEqual([])
  })

  it('sees a reply as fresh as without a queue, until it answers', async () => {
    const seen: unknown[] = []
    const look = (reply: FastifyReply): object => ({
      sent: reply.sent,
      begun: reply.raw.headersSent,
      status: [reply.statusCode, reply.raw.statusCode, reply.raw.statusMessage],
      headers: reply.getHeaders(),
      raw: reply.raw.getHeaderNames(),
    })
    const { answer, bare } = await compare((app, path, config) => {
      app.get(
        path,
        {
          config,
          onRequest: async (_request, reply) => {
            reply.header('x-before', 'yes').raw.setHeader('X-Raw', 'yes')
          },
        },
        (_request, reply) => {
          const before = look(reply)
          reply.removeHeader('x-before').removeHeader('x-raw').type(SSE)
          seen.push([before, look(reply)])
          return reply.send('data: a\n\n')
        },
      )
    })
    expect(answer.body).toBe(bare.body)
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0]).toMatchObject([{ sent: false, begun: false, headers: { 'x-before': 'yes', 'x-raw': 'yes' } }, {}])
  })

  it.each<readonly [string, RouteHandlerMethod, string, object]>([
    ['an object', () => ({ answer: 42 }), 'response', { status: 200, body: { answer: 42 } }],
    [
      'a status and a text',
      (_request, reply) => reply.code(201).header('X-Own', 'yes').send('made'),
      'response',
      { status: 201, body: 'made', headers: { 'x-own': 'yes', 'content-type': 'text/plain; charset=utf-8' } },
    ],
    ['204', (_request, reply) => reply.code(204).send(), 'response', { status: 204, body: null }],
    [
      'bytes',
      (_request, reply) => reply.send(Buffer.from([1, 2, 255])),
      'response',
      { body: 'AQL/', encoding: 'base64' },
    ],
    [
      'a stream of something else',
      (_request, reply) => reply.type('text/plain').send(source()),
      'response',
      { status: 200, body: EVENTS.join('') },
    ],
    [
      'a redirect',
      (_request, reply) => reply.redirect('/elsewhere'),
      'error',
      { status: 302, errorText: 'Found', location: '/elsewhere' },
    ],
    [
      'a status and an object',
      (_request, reply) => reply.code(429).send({ error: { message: 'slow down' } }),
      'error',
      { status: 429, errorText: 'slow down', error: { type: 'rate_limit_error', code: 429, message: 'slow down' } },
    ],
    [
      'an error thrown',
      () => {
        throw new Error('boom')
      },
      'error',
      { status: 500, errorText: 'boom', body: { statusCode: 500, error: 'Internal Server Error', message: 'boom' } },
    ],
    ['a rejection', () => Promise.reject(new Error('boom')), 'error', { status: 500, errorText: 'boom' }],
    [
      'an error with a status',
      () => Promise.reject(Object.assign(new Error('closed'), { statusCode: 403 })),
      'error',
      { status: 403, error: { type: 'permission_error', code: 403, message: 'closed' } },
    ],
    [
      'an error that is sent',
      (_request, reply) => reply.send(new Error('boom')),
      'error',
      { status: 500, errorText: 'boom' },
    ],
    [
      'reply.callNotFound()',
      (_request, reply) => reply.callNotFound(),
      'error',
      { status: 404, errorText: expect.stringContaining('not found') },
    ],
    [
      'a stream that fails before its first byte',
      (_request, reply) => reply.type(SSE).send(new FailingStream()),
      'error',
      { status: 500 },
    ],
    [
      'raw.writeHead and a text, hijacked',
      (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(418, 'Short and stout', { 'Content-Type': 'text/plain' }).end('teapot')
      },
      'error',
      { status: 418, errorText: 'teapot' },
    ],
  ])('Cases 12 and 13: answers with %s, as one last event', async (_what, handler, name, data) => {
    const { gated, answer, warnings } = await compare(route(handler))
    const event = finalEvent(answer.body)
    expect(event.name).toBe(name)
    expect(event.data).toMatchObject(data)
    expect(gated.status).toBe(200)
    expect(warnings).toEqual([])
  })

  it('Case 13: answers with an object that a schema serialises, as one last event', async () => {
    const schema = { response: { 200: { type: 'object', properties: { answer: { type: 'number' } } } } }
    const { answer } = await compare(route(() => ({ answer: 42, secret: 1 }), { schema }))
    expect(finalEvent(answer.body).data).toMatchObject({ status: 200, body: { answer: 42 } })
    expect(answer.body).not.toContain('secret')
  })

  it("Case 12: answers through the app's error handler, as one last event", async () => {
    const { bare, answer } = await compare((app, path, config) => {
      if (path === '/bare')
        app.setErrorHandler((error: Error, _request, reply) => reply.code(502).send({ detail: error.message }))
      app.get(path, { config }, () => Promise.reject(new Error('boom')))
    })
    expect(JSON.parse(bare.body)).toEqual({ detail: 'boom' })
    expect(finalEvent(answer.body).data).toMatchObject({ status: 502, errorText: 'boom', body: { detail: 'boom' } })
  })

  it('runs the hooks behind it once, and sends what they make of the answer', async () => {
    const ran: string[] = []
    const { bare, answer } = await compare((app, path, config) => {
      app.get(
        path,
        {
          config,
          onSend: async (_request, reply, payload) => {
            ran.push('onSend')
            reply.header('x-late', '1')
            return `${payload as string}data: more\n\n`
          },
          onResponse: async () => void ran.push('onResponse'),
        },
        (_request, reply) => reply.type(SSE).send('data: a\n\n'),
      )
    })
    expect(answer.body).toBe(bare.body)
    expect(answer.body).toBe('data: a\n\ndata: more\n\n')
    expect(ran).toEqual(['onSend', 'onResponse', 'onSend', 'onResponse'])
  })

  it('Case 16: keeps the headers that hooks before the queue have set, and reports those that came too late, once', async () => {
    const { gated, warnings } = await compare(async (app, path, config) => {
      if (path === '/bare') await app.register(cors, { origin: 'https://a.example' })
      app.get(
        path,
        {
          config,
          onRequest: async (_request, reply) => {
            reply.header('set-cookie', ['session=a', 'theme=b']).header('etag', '"1"').header('content-length', 5)
          },
        },
        (_request, reply) => {
          reply.header('set-cookie', 'late=c').header('x-late', '1').removeHeader('content-length')
          return reply.type(SSE).send(source())
        },
      )
    })
    expect(gated.header('access-control-allow-origin')).toBe('https://a.example')
    expect(gated.header('set-cookie')).toBe('session=a, theme=b')
    expect(['etag', 'content-length', 'x-late'].map((name) => gated.header(name))).toEqual(Array(3).fill(undefined))
    expect(gated.header('cache-control')).toBe('no-cache, no-transform')
    expect(gated.header('x-accel-buffering')).toBe('no')
    expect(warnings).toEqual([expect.stringContaining('set-cookie, x-late')])
  })

  it.each<readonly [string, RouteHandlerMethod]>([
    [
      'a stream that fails',
      (_request, reply) => {
        const stream = new PassThrough()
        stream.write('data: a\n\n')
        reply.raw.once('pipe', () => setTimeout(() => stream.destroy(new Error('boom')), 5))
        return reply.type(SSE).send(stream)
      },
    ],
    [
      'a web stream that fails',
      (_request, reply) =>
        reply.type(SSE).send(
          new ReadableStream({
            start: (controller) => controller.enqueue('data: a\n\n'),
            pull: async (controller) => {
              await new Promise((resolve) => setTimeout(resolve, 5))
              controller.error(new Error('boom'))
            },
          }),
        ),
    ],
    [
      'raw.destroy()',
      (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'Content-Type': SSE }).write('data: a\n\n')
        setTimeout(() => reply.raw.destroy(), 5)
      },
    ],
    [
      'an error thrown after the reply was hijacked',
      async (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'Content-Type': SSE }).write('data: a\n\n')
        setTimeout(() => reply.raw.destroy(), 5)
        throw new Error('boom')
      },
    ],
  ])('Case 14: is cut by %s after its first byte, as without a queue', async (_what, handler) => {
    const twins = await openTwins(route(handler))
    const bare = (await twins.connect()).request('GET', '/bare')
    const gated = await twins.enter()
    await Promise.all([bare.closed, gated.closed])
    const { body, complete } = gated.unfinished
    expect(bare.unfinished).toEqual({ body: 'data: a\n\n', complete: false })
    expect([afterWait(body), complete]).toEqual(['data: a\n\n', false])
  })

  it('Case 14: is cut by an error thrown after its first byte as without a queue', async () => {
    const twins = await openTwins(
      route((_request, reply) => {
        reply.raw.writeHead(200, { 'Content-Type': SSE }).write('data: a\n\n')
        throw new Error('boom')
      }),
    )
    const bare = (await twins.connect()).request('GET', '/bare')
    await bare.closed
    const gated = await twins.enter()
    await gated.closed
    expect(bare.received).not.toMatch(/\r\n0\r\n\r\n$/)
    expect(gated.received).not.toMatch(/\r\n0\r\n\r\n$/)
  })

  it('keeps a connection alive that was told of its wait', async () => {
    const twins = await openTwins(route((_request, reply) => reply.type(SSE).send(source())))
    const client = await twins.enter()
    await client.response()
    expect((await client.request('GET', '/gated').response()).body).toBe(EVENTS.join(''))
    client.leave()
  })

  it.each([0, 1024])(
    'Case 17, B35: is neither compressed nor held back, whatever the client takes and from however many bytes on (%i)',
    async (threshold) => {
      const seen = deferred()
      const twins = await openTwins(async (app, path, config) => {
        if (path === '/bare') await app.register(compress, { threshold, customTypes: /./ })
        app.get(path, { config }, (_request, reply) => reply.type(SSE).send(source(seen.promise)))
      })
      // Each step needs that what was written before has arrived.
      const client = await twins.enter('GET', { 'Accept-Encoding': 'gzip, br' })
      await client.until(EVENTS[0]!)
      seen.resolve()
      const { body, header } = await client.response()
      expect(header('content-encoding')).toBeUndefined()
      expect(afterWait(body)).toBe(EVENTS.join(''))
      client.leave()
      const bare = await fetch(`http://127.0.0.1:${twins.port}/gated`, { headers: { 'accept-encoding': 'gzip' } })
      expect([bare.headers.get('content-encoding'), await bare.text()]).toEqual(['gzip', EVENTS.join('')])
    },
  )
})
