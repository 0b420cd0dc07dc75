import Koa, { type Middleware } from 'koa'
import { Router } from '@koa/router'
import compress from 'koa-compress'
import { describe, expect, it } from 'vitest'
import { fairQueue, type FairQueueContext, type FairQueueMiddlewareOptions } from '@fairqueue/koa'
import { asksForEvents, closing, eventually, runningIs, waitingIs } from '@fairqueue/test/kit/site'
import { koaVersions, openSite } from './site.js'

describe.each(koaVersions)('Layers around fairQueue on $version', ({ framework }) => {
  const openFull = async (outer: Middleware, options: FairQueueMiddlewareOptions = {}) => {
    const middleware = closing(
      fairQueue({ name: 'chat', concurrency: 1, maxQueueSize: 0, ...options } as { concurrency: number }),
    )
    const site = await openSite(framework, outer, middleware, (ctx) => {
      ctx.body = 'ran'
    })
    const holder = await middleware.queue.acquire()
    return { site, middleware, holder }
  }

  it('see a refusal in the context, and may change it', async () => {
    const seen: unknown[] = []
    const { site } = await openFull(async (ctx, next) => {
      await next()
      seen.push([ctx.status, ctx.type, ctx.response.get('Retry-After'), JSON.parse(ctx.body as string)])
      ctx.body = { wrapped: ctx.body }
      ctx.set('X-Outer', 'yes')
    })
    const { status, header, body } = await site.get('/')
    expect(seen).toMatchObject([[503, 'application/problem+json', '5', { code: 'FQ_QUEUE_FULL' }]])
    expect([status, header('x-outer'), header('retry-after')]).toEqual([503, 'yes', '5'])
    expect(JSON.parse(body)).toMatchObject({ wrapped: expect.stringContaining('FQ_QUEUE_FULL') as string })
    expect(header('content-length')).toBe(String(Buffer.byteLength(body)))
  })

  it('compress a refusal as any other answer', async () => {
    const { site } = await openFull(compress({ threshold: 0, filter: () => true }))
    const response = await fetch(`http://127.0.0.1:${site.port}/`, { headers: { 'Accept-Encoding': 'gzip' } })
    expect([response.status, response.headers.get('content-encoding')]).toEqual([503, 'gzip'])
    expect(await response.json()).toMatchObject({ code: 'FQ_QUEUE_FULL' })
  })

  it('have a refusal in the same form when they compress and the client is still sending', async () => {
    const { site } = await openFull(compress({ threshold: 0, filter: () => true }))
    const client = await site.connect()
    const size = 50 * 1024 * 1024
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    client.send(Buffer.alloc(size))
    const { status, header, body } = await client.response('POST')
    expect([status, header('content-type')]).toEqual([503, 'application/problem+json'])
    expect(JSON.parse(body)).toMatchObject({ code: 'FQ_QUEUE_FULL' })
    await client.closed
  })

  it('catch what the option handler throws', async () => {
    const formatter: Middleware = async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        const { status, message } = error as { status: number; message: string }
        ctx.status = status
        ctx.body = { formatted: message }
      }
    }
    const { site } = await openFull(formatter, {
      handler: (ctx, _next, { status, retryAfter }) => {
        ctx.set('Retry-After', String(retryAfter))
        ctx.throw(status, 'come back later')
      },
    })
    const { status, body, header } = await site.get('/')
    expect([status, body, header('retry-after')]).toEqual([503, '{"formatted":"come back later"}', '5'])
  })

  it('catch what a handler throws, and the place is free by then', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const caught: unknown[] = []
    const site = await openSite(
      framework,
      async (ctx, next) => {
        await next().catch((error: unknown) => caught.push(error))
        ctx.body = 'caught'
      },
      middleware,
      (ctx) => ctx.throw(418),
    )
    expect((await site.get('/')).body).toBe('caught')
    expect(caught).toMatchObject([{ status: 418 }])
    await runningIs(middleware.queue, 0)
  })

  it.each<[string, Record<string, string>]>([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])('B33: finish when the client goes while it waits %s, and nothing behind runs', async (_how, headers) => {
    const middleware = closing(fairQueue({ concurrency: 1, statusDelayMs: 0 }))
    const log: string[] = []
    const site = await openSite(
      framework,
      async (_ctx, next) => {
        try {
          await next()
          log.push('returned')
        } finally {
          log.push('finally')
        }
      },
      middleware,
      () => void log.push('ran'),
    )
    const holder = await middleware.queue.acquire()
    const client = (await site.connect()).request('GET', '/', headers)
    await waitingIs(middleware.queue, 1)
    if (headers === asksForEvents) await client.until('event: queue')
    client.leave()
    await eventually(() => log).toEqual(['returned', 'finally'])
    await holder.release()
    await runningIs(middleware.queue, 0)
    expect([log, site.errors]).toEqual([['returned', 'finally'], []])
  })

  it('B32: may give up and answer while a request waits, and what they answer is all', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const log: string[] = []
    const site = await openSite(
      framework,
      async (ctx, next) => {
        await Promise.race([next(), waitingIs(middleware.queue, 1)])
        ctx.status = 504
        ctx.body = 'too slow'
      },
      middleware,
      () => void log.push('ran'),
    )
    const holder = await middleware.queue.acquire()
    const { status, body } = await site.get('/')
    expect([status, body]).toEqual([504, 'too slow'])
    await waitingIs(middleware.queue, 0)
    await holder.release()
    await runningIs(middleware.queue, 0)
    expect([log, site.errors]).toEqual([[], []])
  })

  it('find what a request knows of its place in the state, too, once it is let in', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const seen: unknown[] = []
    const site = await openSite(
      framework,
      async (ctx, next) => {
        seen.push(ctx.state['fairQueue'] === undefined)
        await next()
        seen.push(ctx.state['fairQueue'] === ctx.fairQueue)
      },
      middleware,
      (ctx) => {
        ctx.body = (ctx.state['fairQueue'] as FairQueueContext).ticket
      },
    )
    expect((await site.get('/')).body).toMatch(/^\d{16}\./)
    expect(seen).toEqual([true, true])
  })

  it('and around routes may be typed, as may the application', async () => {
    interface State {
      readonly user: string
    }
    const app = new framework<State, { readonly extra: number }>()
    const router = new Router<State, { readonly extra: number }>()
    const chat = closing(fairQueue({ concurrency: 1, keyGenerator: (ctx) => (ctx.state as State).user }))
    app.use(chat)
    router.get('/:name', chat, (ctx) => {
      const context: FairQueueContext = ctx.fairQueue
      ctx.body = `${ctx.params['name']} ${ctx.extra} ${context.waitedMs}`
    })
    expect(app.middleware).toHaveLength(1)
    expect(app).toBeInstanceOf(framework === Koa ? Koa : framework)
  })
})
