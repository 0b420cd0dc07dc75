import { Readable } from 'node:stream'
import * as ai6 from 'ai'
import { describe, expect, it } from 'vitest'
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
