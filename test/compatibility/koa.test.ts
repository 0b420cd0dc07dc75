import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import cors from '@koa/cors'
import * as ai6 from 'ai'
import type { Context } from 'koa'
import helmet from 'koa-helmet'
import { describe, expect, it } from 'vitest'
import { RawClient } from '@fairqueue/test/kit/rawHttp'
import { streams, textStreams } from './sseAnswers.js'
import { compare, finalEvent, koaTwins } from './twins.js'

describe('Cases 3 to 6: a library that writes streams, behind an early head on Koa', () => {
  it.each(streams)('%s sends the same bytes', async (_name, answer) => {
    const twins = await koaTwins(async (ctx) => {
      // Koa's own default is 404, and better-sse takes the status that it finds.
      ctx.status = 200
      ctx.respond = false
      await answer(ctx.req, ctx.res)
    })
    const { bare, gated, answer: sent } = await compare(twins)
    expect(bare.body).toContain('lo"')
    expect(sent).toBe(bare.body)
    expect(gated.status).toBe(200)
  })

  it.each(textStreams)('%s becomes one event, for a text is no stream of events', async (_name, answer) => {
    const twins = await koaTwins(async (ctx) => {
      ctx.respond = false
      await answer(ctx.req, ctx.res)
    })
    const { bare, answer: sent } = await compare(twins)
    expect(bare.body).toBe('Hello')
    expect(finalEvent(sent)).toMatchObject({ name: 'response', data: { status: 200, body: 'Hello' } })
  })

  const chunks = (): ReadableStream<ai6.UIMessageChunk> =>
    ai6.createUIMessageStream({ execute: ({ writer }) => writer.write({ type: 'data-part', data: 'lo' }) })
  it.each<[string, () => unknown]>([
    ['a Response of the AI SDK', () => ai6.createUIMessageStreamResponse({ stream: chunks() })],
    ['a web stream', () => new Response('data: "lo"\n\n').body],
    ['a Node stream', () => Readable.from(['data: "lo"\n\n'])],
  ])('%s as the body sends the same bytes', async (_name, body) => {
    const twins = await koaTwins((ctx) => {
      ctx.type = 'text/event-stream'
      ctx.body = body()
    })
    const { bare, answer } = await compare(twins)
    expect(bare.body).toContain('lo"')
    expect(answer).toBe(bare.body)
  })
})

describe('Case 16: headers of koa-helmet and @koa/cors', () => {
  const layers = [helmet(), cors({ origin: () => 'https://page.example', credentials: true })]
  const asked = { Origin: 'https://page.example' }
  const names = ['content-security-policy', 'strict-transport-security', 'access-control-allow-origin', 'vary']
  const events = (ctx: Context): void => {
    ctx.type = 'text/event-stream'
    ctx.body = Readable.from(['data: a\n\n'])
  }

  it('are in the early head when these stand in front of the queue', async () => {
    const twins = await koaTwins(events, ...layers)
    const { bare, gated, answer } = await compare(twins, asked)
    expect(names.map((name) => gated.header(name))).toEqual(names.map((name) => bare.header(name)))
    expect(gated.header('access-control-allow-origin')).toBe('https://page.example')
    expect([answer, twins.warnings]).toEqual([bare.body, []])
  })

  it('are on a refusal too', async () => {
    const twins = await koaTwins(events, ...layers)
    await twins.queue.acquire()
    await twins.queue.configure({ maxQueueSize: 0 })
    const refused = await fetch(`http://127.0.0.1:${twins.port}/gated`, { headers: asked })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([503, 'https://page.example'])
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'self'")
  })

  it('are warned of as lost when these stand behind the queue, and the stream is whole', async () => {
    const twins = await koaTwins((ctx) =>
      layers.reduceRight<() => Promise<unknown>>(
        (next, layer) => async () => layer(ctx, next),
        async () => events(ctx),
      )(),
    )
    const { bare, gated, answer } = await compare(twins, asked)
    expect(answer).toBe(bare.body)
    expect(gated.header('access-control-allow-origin')).toBeUndefined()
    expect(twins.warnings).toEqual([expect.stringContaining('access-control-allow-origin')])
    expect(twins.warnings[0]).toContain('content-security-policy')
  })

  it('Case 28, B31: a preflight is answered while the place is taken', async () => {
    const twins = await koaTwins((ctx) => layers[1]!(ctx, async () => undefined))
    await twins.queue.acquire()
    const client = await RawClient.connect(twins.port)
    const headers = { ...asked, 'Access-Control-Request-Method': 'POST' }
    const preflight = await client.request('OPTIONS', '/gated', headers).response()
    client.leave()
    expect([preflight.status, preflight.header('access-control-allow-origin')]).toEqual([204, 'https://page.example'])
  })
})

it('Case 13: a file becomes one event behind an early head on Koa', async () => {
  const path = fileURLToPath(new URL('package.json', import.meta.url))
  const { bare, answer } = await compare(
    await koaTwins((ctx) => {
      ctx.type = 'json'
      ctx.body = createReadStream(path)
    }),
  )
  expect(bare.body).toBe(readFileSync(path, 'utf8'))
  expect(finalEvent(answer)).toMatchObject({ name: 'response', data: { status: 200, body: JSON.parse(bare.body) } })
})
