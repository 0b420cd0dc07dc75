import { PassThrough, Readable } from 'node:stream'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { asksForEvents, eventually } from '@fairqueue/test/kit/site'
import { askBoth, cutBoth, finalEvent } from '@fairqueue/core/testing/adapter'
import { koaVersions, openTwins } from './site.js'

type Handler = (ctx: Context) => unknown

const SSE = 'text/event-stream'

/** A body that a handler writes to after it has returned. */
function writtenLater(...events: string[]): PassThrough {
  const body = new PassThrough()
  const write = (): void => {
    const event = events.shift()
    if (event === undefined) body.end()
    else body.write(event, () => setImmediate(write))
  }
  setImmediate(write)
  return body
}

const streams: readonly (readonly [string, Handler])[] = [
  [
    'a PassThrough that is written to later',
    (ctx) => {
      ctx.type = SSE
      ctx.body = writtenLater('data: a\n\n', 'data: b\n\n')
    },
  ],
  [
    'a Readable, and the type after it',
    (ctx) => {
      ctx.body = Readable.from(['data: a\n\n', 'data: b\n\n'])
      ctx.type = SSE
    },
  ],
  [
    'a status beside it',
    (ctx) => {
      ctx.status = 200
      ctx.set('Content-Type', SSE)
      ctx.set('Cache-Control', 'no-cache')
      ctx.body = writtenLater('data: a\n\n')
    },
  ],
  [
    "Node's own response, without a status of Koa's",
    (ctx) => {
      ctx.respond = false
      ctx.res.setHeader('Content-Type', SSE)
      ctx.res.write('data: a\n\n')
      ctx.res.end('data: b\n\n')
    },
  ],
  [
    'flushHeaders first',
    (ctx) => {
      ctx.type = SSE
      ctx.status = 200
      ctx.flushHeaders()
      ctx.body = writtenLater('data: a\n\n')
    },
  ],
]

describe.each(koaVersions)("Koa's own ways of answering, behind an early head on $version", ({ framework }) => {
  it.each(streams)('Case 6: stream with %s, byte for byte', async (_what, handler) => {
    const { gated, bare, answer, warnings } = await askBoth(await openTwins(framework, handler))
    expect(bare.body).toMatch(/^data: a\n\n/)
    expect(answer.body).toBe(bare.body)
    expect(gated.header('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(warnings).toEqual([])
  })

  it.each<[string, Handler, string, object]>([
    [
      'an object as the body',
      (ctx) => (ctx.body = { answer: 42 }),
      'response',
      { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: { answer: 42 } },
    ],
    ['a text as the body', (ctx) => (ctx.body = 'hello'), 'response', { status: 200, body: 'hello' }],
    ['null as the body', (ctx) => (ctx.body = null), 'response', { status: 204, body: null }],
    ['a status alone', (ctx) => (ctx.status = 201), 'response', { status: 201, body: 'Created' }],
    ['nothing', () => undefined, 'error', { status: 404, errorText: 'Not Found' }],
    ['ctx.redirect', (ctx) => ctx.redirect('/elsewhere'), 'error', { status: 302, location: '/elsewhere' }],
    [
      'ctx.throw',
      (ctx) => ctx.throw(403, 'members only'),
      'error',
      { status: 403, errorText: 'members only', error: { type: 'permission_error', code: 403 } },
    ],
    ['ctx.assert', (ctx) => ctx.assert(false, 401), 'error', { status: 401, errorText: 'Unauthorized' }],
    [
      'an error, after headers and a body of its own',
      (ctx) => {
        ctx.set('X-Own', 'yes')
        ctx.body = 'never sent'
        throw new Error('boom')
      },
      'error',
      { status: 500, errorText: 'Internal Server Error' },
    ],
  ])('Cases 12 and 13: answer with %s, as one last event', async (_what, handler, name, data) => {
    const { gated, answer } = await askBoth(await openTwins(framework, handler))
    const event = finalEvent(answer.body)
    expect(event.name).toBe(name)
    expect(event.data).toMatchObject(data)
    expect(gated.status).toBe(200)
  })

  it('Case 12: have their errors told by the application, as without a queue', async () => {
    const twins = await openTwins(framework, () => {
      throw new Error('boom')
    })
    await askBoth(twins)
    expect(twins.errors).toMatchObject([{ message: 'boom' }, { message: 'boom' }])
  })

  it('Case 14: have what they throw after their first byte told as such, and cannot answer twice', async () => {
    const twins = await openTwins(framework, (ctx) => {
      ctx.respond = false
      ctx.res.setHeader('Content-Type', SSE)
      ctx.res.write('data: a\n\n')
      ctx.throw(500, 'boom')
    })
    const bare = (await twins.connect()).request('GET', '/bare', asksForEvents)
    await bare.until('data: a\n\n')
    const gated = await twins.enter()
    await gated.until('data: a\n\n')
    await eventually(() => twins.errors.length).toBe(2)
    expect(twins.errors).toMatchObject([
      { message: 'boom', headerSent: true },
      { message: 'boom', headerSent: true },
    ])
    expect(gated.received).toMatch(/data: a\n\n\r\n$/)
    for (const client of [bare, gated]) client.leave()
  })
})

describe('What only Koa 3 can, behind an early head', () => {
  const [{ framework }] = koaVersions as [(typeof koaVersions)[0]]

  it.each<[string, () => unknown]>([
    ['a ReadableStream', () => new Blob(['data: a\n\n', 'data: b\n\n']).stream()],
    ['a Blob', () => new Blob(['data: a\n\n', 'data: b\n\n'])],
    ['a Response', () => new Response('data: a\n\ndata: b\n\n', { headers: { 'Content-Type': SSE } })],
  ])('Case 6: streams with %s, byte for byte', async (_what, body) => {
    const { bare, answer, warnings } = await askBoth(
      await openTwins(framework, (ctx) => {
        ctx.type = SSE
        ctx.body = body()
      }),
    )
    expect(bare.body).toBe('data: a\n\ndata: b\n\n')
    expect(answer.body).toBe(bare.body)
    expect(warnings).toEqual([])
  })

  it('Case 14: is cut by a stream that fails after its first byte, as without a queue', async () => {
    const twins = await openTwins(framework, (ctx) => {
      const body = new PassThrough()
      ctx.type = SSE
      ctx.body = body
      body.write('data: a\n\n', () => setTimeout(() => body.destroy(new Error('boom')), 5))
    })
    const { bare, gated } = await cutBoth(twins)
    expect(bare).toEqual({ body: 'data: a\n\n', complete: false })
    expect(gated).toEqual(bare)
  })
})
