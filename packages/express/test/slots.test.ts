import type { Request, RequestHandler, Response } from 'express'
import { describe, expect, it, vi } from 'vitest'
import { fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import { closing, eventually, runningIs } from '@fairqueue/test/kit/site'
import { expressVersions, openSite, showErrors } from './site.js'

describe.each(expressVersions)('A place on $version', ({ framework }) => {
  const openGate = async (handler: RequestHandler, options: FairQueueMiddlewareOptions, wrap: boolean) => {
    const all = { concurrency: 1, ...options } as { concurrency: number }
    const middleware = closing(wrap ? fairQueue.wrap(all, handler) : fairQueue(all))
    const site = await openSite(framework, (app) => {
      app.get('/', ...(wrap ? [middleware] : [middleware, handler]))
      app.use(showErrors)
    })
    return { site, queue: middleware.queue }
  }

  it.each<[string, RequestHandler]>([
    ['passes an error on', (_req, _res, next) => next(new Error('boom'))],
    [
      'throws after its first byte',
      (_req, res) => {
        res.write('first')
        throw new Error('boom')
      },
    ],
    [
      'passes an error on after its first byte',
      (_req, res, next) => {
        res.write('first')
        next(new Error('boom'))
      },
    ],
  ])('is free again after a handler that %s, by itself', async (_what, handler) => {
    const { site, queue } = await openGate(handler, { abortGraceMs: 0 }, false)
    const client = (await site.connect()).request('GET', '/')
    await eventually(async () => (await queue.status()).grants).toBe(1)
    await runningIs(queue, 0)
    expect((await queue.status()).free).toBe(1)
    client.leave()
  })

  /** A request whose handler, under `wrap`, works until `finish`, and whose client has gone. */
  const leaveWhileRunning = async (options: FairQueueMiddlewareOptions) => {
    const requests: { req: Request; res: Response; finish: () => void }[] = []
    const handler: RequestHandler = (req, res) => {
      res.write('first')
      return new Promise<void>((resolve) => {
        requests.push({ req, res, finish: resolve })
      })
    }
    const gate = await openGate(handler, options, true)
    const client = (await gate.site.connect()).request('GET', '/')
    await client.until('first')
    const { signal } = requests[0]!.req.fairQueue
    client.leave()
    await eventually(() => signal.aborted).toBe(true)
    return { ...gate, ...requests[0]! }
  }

  it('whose client has gone is kept by wrap until the handler is done, neither shorter nor longer', async () => {
    const { queue, res, finish } = await leaveWhileRunning({ abortGraceMs: 0 })
    res.end()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await queue.status()).running).toBe(1)
    finish()
    await runningIs(queue, 0)
  })

  it('whose client has gone is kept by wrap for leaseMs at the most', async () => {
    const { queue } = await leaveWhileRunning({ leaseMs: 150 })
    expect((await queue.status()).running).toBe(1)
    await runningIs(queue, 0)
  })

  it('is kept by wrap while the handler works on after its response', async () => {
    let finish = (): void => undefined
    const { site, queue } = await openGate(
      async (_req, res) => {
        res.end('done')
        await new Promise<void>((resolve) => {
          finish = resolve
        })
      },
      {},
      true,
    )
    await site.get('/')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await queue.status()).running).toBe(1)
    finish()
    await runningIs(queue, 0)
  })

  it.each<[string, RequestHandler]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['rejects without a reason', vi.fn<RequestHandler>().mockRejectedValue(undefined)],
  ])('is free, and the error handled, after a wrapped handler that %s', async (_what, handler) => {
    const { site, queue } = await openGate(handler, {}, true)
    expect((await site.get('/')).status).toBe(500)
    await runningIs(queue, 0)
  })
})
