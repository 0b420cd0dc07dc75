import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import proxy from '@fastify/http-proxy'
import sse from '@fastify/sse'
import files from '@fastify/static'
import * as ai6 from 'ai'
import type { FastifyPluginAsync } from 'fastify'
import { FastifySSEPlugin } from 'fastify-sse-v2'
import { describe, expect, it } from 'vitest'
import { streams, textStreams } from './sseAnswers.js'
import { compare, fastifyTwins, finalEvent, listen } from './twins.js'

describe('Cases 3 to 8: a library that writes streams, behind an early head on Fastify', () => {
  it.each(streams)('%s sends the same bytes on a reply that is taken over', async (_name, answer) => {
    const twins = await fastifyTwins((app, path, config) =>
      app.get(path, { config }, async (request, reply) => {
        reply.hijack()
        await answer(request.raw, reply.raw)
      }),
    )
    const { bare, gated, answer: sent } = await compare(twins)
    expect(bare.body).toContain('lo"')
    expect(sent).toBe(bare.body)
    expect(gated.status).toBe(200)
  })

  it.each(textStreams)('%s becomes one event, for a text is no stream of events', async (_name, answer) => {
    const twins = await fastifyTwins((app, path, config) =>
      app.get(path, { config }, async (request, reply) => {
        reply.hijack()
        await answer(request.raw, reply.raw)
      }),
    )
    const { bare, answer: sent } = await compare(twins)
    expect(bare.body).toBe('Hello')
    expect(finalEvent(sent)).toMatchObject({ name: 'response', data: { status: 200, body: 'Hello' } })
  })

  it('@fastify/sse sends the same bytes', async () => {
    const twins = await fastifyTwins(async (app, path, config) => {
      if (path === '/bare') await app.register(sse as unknown as FastifyPluginAsync)
      app.get(path, { config, sse: true }, async (_request, reply) => {
        await reply.sse.send({ id: '1', event: 'answer', data: { text: 'Hello' } })
        await reply.sse.send(Readable.from(['a', 'b']))
      })
    })
    const { bare, answer } = await compare(twins)
    expect(bare.body).toContain('Hello')
    expect(answer).toBe(bare.body)
  })

  it('fastify-sse-v2 sends the same bytes', async () => {
    const twins = await fastifyTwins(async (app, path, config) => {
      if (path === '/bare') await app.register(FastifySSEPlugin)
      app.get(path, { config }, (_request, reply) => {
        // Both plugins declare a `reply.sse`.
        ;(reply as unknown as { sse(source: Readable): void }).sse(
          Readable.from([{ id: '1', event: 'answer', data: 'Hello' }]),
        )
      })
    })
    const { bare, answer } = await compare(twins)
    expect(bare.body).toContain('Hello')
    expect(answer).toBe(bare.body)
  })

  it('a Response of the AI SDK as the reply sends the same bytes', async () => {
    const twins = await fastifyTwins((app, path, config) =>
      app.get(path, { config }, () =>
        ai6.createUIMessageStreamResponse({
          stream: ai6.createUIMessageStream({
            execute: ({ writer }) => writer.write({ type: 'data-part', data: 'lo' }),
          }),
        }),
      ),
    )
    const { bare, answer } = await compare(twins)
    expect(bare.body).toContain('lo"')
    expect(answer).toBe(bare.body)
  })
})

describe('Case 16: headers of @fastify/helmet and @fastify/cors', () => {
  const openTwins = (): ReturnType<typeof fastifyTwins> =>
    fastifyTwins(async (app, path, config) => {
      if (path === '/bare') {
        await app.register(helmet)
        await app.register(cors, { origin: 'https://page.example', credentials: true })
      }
      app.get(path, { config }, (_request, reply) => reply.type('text/event-stream').send('data: a\n\n'))
    })

  it('are in the early head, though Fastify keeps them in the reply until it answers', async () => {
    const twins = await openTwins()
    const { bare, gated, answer } = await compare(twins, { Origin: 'https://page.example' })
    const names = ['content-security-policy', 'strict-transport-security', 'access-control-allow-origin']
    expect(names.map((name) => gated.header(name))).toEqual(names.map((name) => bare.header(name)))
    expect(gated.header('access-control-allow-origin')).toBe('https://page.example')
    expect([answer, twins.warnings]).toEqual([bare.body, []])
  })

  it('are on a refusal too', async () => {
    const twins = await openTwins()
    await twins.queue.acquire()
    await twins.queue.configure({ maxQueueSize: 0 })
    const refused = await fetch(`http://127.0.0.1:${twins.port}/gated`)
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([503, 'https://page.example'])
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'self'")
  })
})

describe('Case 11: @fastify/http-proxy behind an early head', () => {
  const twinsTo = (upstream: string): ReturnType<typeof fastifyTwins> =>
    fastifyTwins((app, path, config) => app.register(proxy, { upstream, prefix: path, config }))

  it('passes a stream of events on, byte for byte', async () => {
    const upstream = createServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: a\n\n')
      setImmediate(() => res.end('data: b\n\n'))
    })
    const { bare, answer } = await compare(await twinsTo(`http://127.0.0.1:${await listen(upstream)}`))
    expect(bare.body).toBe('data: a\n\ndata: b\n\n')
    expect(answer).toBe(bare.body)
  })

  it('makes one event of a 429 in JSON', async () => {
    const upstream = createServer((_req, res) => {
      res.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow down"}}')
    })
    const { bare, answer } = await compare(await twinsTo(`http://127.0.0.1:${await listen(upstream)}`))
    expect(bare.status).toBe(429)
    expect(finalEvent(answer)).toMatchObject({ name: 'error', data: { status: 429, errorText: 'slow down' } })
  })

  it('makes one event of an upstream that is not there', async () => {
    const gone = createServer()
    const port = await listen(gone)
    gone.close()
    const { bare, answer } = await compare(await twinsTo(`http://127.0.0.1:${port}`))
    expect(bare.status).toBeGreaterThanOrEqual(500)
    expect(finalEvent(answer)).toMatchObject({ name: 'error', data: { status: bare.status } })
  })
})

it('Case 13: a file becomes one event behind an early head on Fastify', async () => {
  const twins = await fastifyTwins(async (app, path, config) => {
    if (path === '/bare') await app.register(files, { root: import.meta.dirname, serve: false })
    app.get(path, { config }, (_request, reply) => reply.sendFile('package.json'))
  })
  const { bare, answer } = await compare(twins)
  expect(JSON.parse(bare.body)).toMatchObject({ name: '@fairqueue/compatibility' })
  expect(finalEvent(answer)).toMatchObject({ name: 'response', data: { status: 200, body: JSON.parse(bare.body) } })
})

it('Case 28, B31: @fastify/cors answers a preflight while the place is taken', async () => {
  const twins = await fastifyTwins(async (app, path, config) => {
    if (path === '/bare') await app.register(cors, { origin: 'https://page.example' })
    app.post(path, { config }, () => 'ran')
  })
  await twins.queue.acquire()
  const preflight = await fetch(`http://127.0.0.1:${twins.port}/gated`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' },
  })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
    204,
    'https://page.example',
  ])
})
