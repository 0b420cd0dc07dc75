import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import type { Context } from 'koa'
import { describe, expect, it } from 'vitest'
import { fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/koa'
import { closing, eventually, runningIs } from '@fairqueue/test/kit/site'
import { koaVersions, openSite } from './site.js'

describe.each(koaVersions)('A place on $version', ({ framework }) => {
  const openOne = async (handler: (ctx: Context) => unknown, options: FairQueueMiddlewareOptions = {}) => {
    const middleware = closing(fairQueue({ concurrency: 1, ...options } as { concurrency: number }))
    const site = await openSite(framework, middleware, async (ctx) => {
      await handler(ctx)
    })
    return { site, queue: middleware.queue }
  }

  /** A handler that takes the response over, returns, and goes on in callbacks; its client has gone. */
  const leaveOneThatGoesOn = async (options: FairQueueMiddlewareOptions) => {
    const responses: ServerResponse[] = []
    const { site, queue } = await openOne((ctx) => {
      ctx.respond = false
      ctx.res.statusCode = 200
      ctx.res.write('first')
      responses.push(ctx.res)
    }, options)
    const client = (await site.connect()).request('GET', '/')
    await client.until('first')
    client.leave()
    const [res] = responses
    await eventually(() => res!.closed).toBe(true)
    return { queue, res: res! }
  }

  it('of a handler that has taken the response over and returned is kept until its end of the response', async () => {
    const { queue, res } = await leaveOneThatGoesOn({ abortGraceMs: '1m' })
    expect((await queue.status()).running).toBe(1)
    res.end()
    expect((await queue.status()).running).toBe(0)
  })

  it('of a handler that has taken the response over and never ends it is kept for abortGraceMs', async () => {
    const { queue } = await leaveOneThatGoesOn({ abortGraceMs: 100 })
    expect((await queue.status()).running).toBe(1)
    await runningIs(queue, 0)
  })

  it('is free when the client of a body that is written later has gone, and the body is destroyed', async () => {
    const body = new PassThrough()
    const { site, queue } = await openOne((ctx) => {
      body.write('first')
      ctx.body = body
    })
    const client = (await site.connect()).request('GET', '/')
    await client.until('first')
    client.leave()
    await runningIs(queue, 0)
    await eventually(() => body.destroyed).toBe(true)
    expect((await queue.status()).free).toBe(1)
  })
})

it('A place on Koa 3 is free again after a body that fails on its way', async () => {
  const middleware = closing(fairQueue({ concurrency: 1 }))
  const [{ framework }] = koaVersions as [(typeof koaVersions)[0]]
  const site = await openSite(framework, middleware, (ctx) => {
    const body = new PassThrough()
    body.write('first', () => setTimeout(() => body.destroy(new Error('boom')), 5))
    ctx.body = body
  })
  const client = (await site.connect()).request('GET', '/')
  await client.closed
  await runningIs(middleware.queue, 0)
  expect(client.received).toMatch(/first\r\n$/)
})
