import type { Request, RequestHandler, Response } from 'express'
import { describe, expect, it, vi } from 'vitest'
import { fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import { closing, eventually, expressVersions, openSite, runningIs, showErrors, waitingIs } from './site.js'

describe.each(expressVersions)('A place on $version', ({ framework }) => {
  const openGate = async (handler: RequestHandler, options: FairQueueMiddlewareOptions = {}, wrap = false) => {
    const all = { concurrency: 1, ...options } as { concurrency: number }
    const middleware = closing(wrap ? fairQueue.wrap(all, handler) : fairQueue(all))
    const site = await openSite(framework, (app) => {
      app.get('/', ...(wrap ? [middleware] : [middleware, handler]))
      app.use(showErrors)
    })
    return { site, queue: middleware.queue }
  }

  it('is held until the last byte of a streamed answer', async () => {
    const responses: Response[] = []
    const { site, queue } = await openGate((_req, res) => {
      res.write('first')
      responses.push(res)
    })
    const client = (await site.connect()).request('GET', '/')
    await client.until('first')
    const next = site.get('/')
    await waitingIs(queue, 1)
    responses[0]!.write('second')
    await client.until('second')
    expect(responses).toHaveLength(1)
    responses[0]!.end('last')
    await eventually(() => responses.length).toBe(2)
    responses[1]!.end()
    await next
    await runningIs(queue, 0)
    client.leave()
  })

  it.each<[string, RequestHandler]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    ['passes an error on', (_req, _res, next) => next(new Error('boom'))],
    [
      'throws after its first byte',
      (_req, res) => {
        res.write('first')
        throw new Error('boom')
      },
    ],
    [
      'cuts its own answer',
      (_req, res) => {
        res.write('first', () => res.destroy())
      },
    ],
  ])('is free again after a handler that %s', async (_what, handler) => {
    const { site, queue } = await openGate(handler, { abortGraceMs: 0 })
    const client = (await site.connect()).request('GET', '/')
    await eventually(async () => (await queue.status()).grants).toBe(1)
    await runningIs(queue, 0)
    expect((await queue.status()).free).toBe(1)
    client.leave()
  })

  it('B01: leaks from no kind of end, however often', async () => {
    let bad = true
    const { site, queue } = await openGate(
      (req, res, next) => {
        const { how } = req.query
        if (how === 'stream') res.write('first')
        else if (how === 'throw') throw new Error('boom')
        else if (how === 'late') {
          res.write('first')
          next(new Error('boom'))
        } else res.end('fine')
      },
      { concurrency: 2, abortGraceMs: 0 },
    )
    const trickle = (async () => {
      while (bad) expect((await site.get('/')).body).toBe('fine')
    })()
    for (let i = 0; i < 50; i += 1) {
      const client = (await site.connect()).request('GET', '/?how=stream')
      await client.until('first')
      client.leave()
    }
    for (let i = 0; i < 20; i += 1) expect((await site.get('/?how=throw')).status).toBe(500)
    for (let i = 0; i < 20; i += 1) await (await site.connect()).request('GET', '/?how=late').closed
    bad = false
    await trickle
    await runningIs(queue, 0)
    const [first, second] = await Promise.all([queue.acquire({ maxWaitMs: 0 }), queue.acquire({ maxWaitMs: 0 })])
    await Promise.all([first.release(), second.release()])
  })

  describe('whose client has gone', () => {
    const slowly = () => {
      const requests: { req: Request; res: Response; finish: () => void }[] = []
      const handler: RequestHandler = (req, res) => {
        res.write('first')
        return new Promise<void>((resolve) => {
          requests.push({ req, res, finish: resolve })
        })
      }
      return { handler, requests }
    }

    const leaveWhileRunning = async (options: FairQueueMiddlewareOptions, wrap: boolean) => {
      const { handler, requests } = slowly()
      const gate = await openGate(handler, options, wrap)
      const client = (await gate.site.connect()).request('GET', '/')
      await client.until('first')
      const { signal } = requests[0]!.req.fairQueue
      client.leave()
      await eventually(() => signal.aborted).toBe(true)
      return { ...gate, ...requests[0]! }
    }

    it('is kept until the handler ends its response', async () => {
      const { queue, res } = await leaveWhileRunning({ abortGraceMs: '1m' }, false)
      expect((await queue.status()).running).toBe(1)
      res.end()
      expect((await queue.status()).running).toBe(0)
    })

    it('is kept for abortGraceMs where the handler ends nothing', async () => {
      const { queue } = await leaveWhileRunning({ abortGraceMs: 100 }, false)
      expect((await queue.status()).running).toBe(1)
      await runningIs(queue, 0)
    })

    it('is kept by wrap until the handler is done, neither shorter nor longer', async () => {
      const { queue, res, finish } = await leaveWhileRunning({ abortGraceMs: 0 }, true)
      res.end()
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect((await queue.status()).running).toBe(1)
      finish()
      await runningIs(queue, 0)
    })

    it('is kept for leaseMs at the most', async () => {
      const { queue } = await leaveWhileRunning({ leaseMs: 150 }, true)
      expect((await queue.status()).running).toBe(1)
      await runningIs(queue, 0)
    })
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

  it('is held by a client that does not read for sendGraceMs at the most', async () => {
    let closed = false
    let endedAtMs = 0
    const { site, queue } = await openGate(
      (_req, res) => {
        res.on('close', () => (closed = true))
        res.end(Buffer.alloc(50 * 1024 * 1024))
        endedAtMs = performance.now()
      },
      { sendGraceMs: 200 },
    )
    const released = new Promise<number>((resolve) => {
      queue.on('released', () => resolve(performance.now()))
    })
    const client = await site.connect()
    client.socket.pause()
    client.request('GET', '/')
    expect((await released) - endedAtMs).toBeGreaterThan(150)
    expect(closed).toBe(false)
    client.leave()
  })

  it('that is lost aborts the signal, goes to the next, and its answer still arrives', async () => {
    const requests: { req: Request; res: Response }[] = []
    const { site, queue } = await openGate((req, res) => void requests.push({ req, res }), { leaseMs: 300 })
    const aborted = vi.fn<(reason: unknown) => void>()
    const first = site.get('/')
    await runningIs(queue, 1)
    const { signal } = requests[0]!.req.fairQueue
    signal.addEventListener('abort', () => aborted(signal.reason))
    const second = site.get('/')
    await eventually(() => requests.length).toBe(2)
    expect(aborted).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'FQ_LEASE_LOST', lostBy: 'expired' }),
    )
    requests[0]!.res.end('late')
    expect((await first).body).toBe('late')
    expect((await queue.status()).running).toBe(1)
    requests[1]!.res.end('second')
    expect((await second).body).toBe('second')
    await runningIs(queue, 0)
  })
})
