import { describe, expect, it, vi } from 'vitest'
import type { Request } from 'express'
import { FairQueue, type OptionError } from '@fairqueue/core'
import { createFairQueue, fairQueue, type FairQueueContext, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import type { RawResponse } from '@fairqueue/test/kit/rawHttp'
import { closing, eventually, expressVersions, openSite, runningIs, showErrors, waitingIs } from './site.js'

describe.each(expressVersions)('fairQueue on $version', ({ framework }) => {
  it('runs a request at once while there is room, and leaves its response untouched', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (_req, res) => void res.status(201).set('X-Own', 'yes').cookie('a', 'b').send('hello'))
      app.get('/bare', (_req, res) => void res.status(201).set('X-Own', 'yes').cookie('a', 'b').send('hello'))
    })
    const [gated, bare] = [await site.get('/'), await site.get('/bare')]
    const undated = ({ headers, ...rest }: RawResponse) => [
      headers.filter(([name]) => name !== 'Date'),
      { ...rest, header: null },
    ]
    expect(undated(gated)).toEqual(undated(bare))
    await runningIs(middleware.queue, 0)
  })

  it('calls next synchronously when the place is granted at once', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const order: string[] = []
    const site = await openSite(framework, (app) => {
      app.get(
        '/',
        (req, res, next) => {
          middleware(req, res, () => {
            order.push('next')
            next()
          })
          order.push('returned')
        },
        (_req, res) => void res.end(),
      )
    })
    await site.get('/')
    expect(order).toEqual(['next', 'returned'])
  })

  it('lets at most so many run at once, and the others in the order in which they came', async () => {
    const middleware = closing(fairQueue({ concurrency: 2 }))
    const started: string[] = []
    const finish: (() => void)[] = []
    const site = await openSite(framework, (app) => {
      app.get('/:name', middleware, (req, res) => {
        started.push(req.params['name'] as string)
        finish.push(() => res.end())
      })
    })
    const answers = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      answers.push(site.get(`/${name}`))
      if (answers.length > 2) await waitingIs(middleware.queue, answers.length - 2)
      else await runningIs(middleware.queue, answers.length)
    }
    expect(started).toEqual(['a', 'b'])
    for (let i = 0; i < 5; i += 1) {
      await eventually(() => finish.length).toBeGreaterThan(0)
      finish.shift()!()
    }
    await Promise.all(answers)
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('tells the handler of its place', async () => {
    const middleware = closing(fairQueue({ concurrency: 1, keyGenerator: (req) => req.get('x-user') }))
    const seen: FairQueueContext[] = []
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (req, res) => {
        seen.push(req.fairQueue)
        res.end()
      })
    })
    const holder = await middleware.queue.acquire()
    const granted = vi.fn<(key: string | null) => void>()
    middleware.queue.on('granted', ({ key }) => granted(key))
    const answer = site.get('/', { 'X-User': 'ann' })
    await waitingIs(middleware.queue, 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    await holder.release()
    expect((await answer).header('server-timing')).toMatch(/^fairqueue;dur=\d+$/)
    const [context] = seen
    expect(granted).toHaveBeenCalledExactlyOnceWith('ann')
    expect(context!.ticket).toMatch(/^[0-9a-f-]{36}$/)
    expect(context!.waitedMs).toBeGreaterThan(4)
    expect(context!.lease!.fence).toBeGreaterThan(0)
    expect(context!.signal.aborted).toBe(false)
  })

  it('sends no Server-Timing to who did not wait', async () => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const site = await openSite(framework, (app) => void app.get('/', middleware, (_req, res) => void res.end()))
    expect((await site.get('/')).header('server-timing')).toBeUndefined()
  })

  it.each<[string, FairQueueMiddlewareOptions]>([
    ['a request that is skipped', { skip: () => true }],
    ['a request that is skipped after a while', { skip: () => Promise.resolve(true) }],
    ['a queue that is not enabled', { enabled: false }],
  ])('lets %s pass without a place, and still sets req.fairQueue', async (_what, options) => {
    const middleware = closing(createFairQueue({ concurrency: 1, ...options })({}))
    const seen: FairQueueContext[] = []
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (req, res) => {
        seen.push(req.fairQueue)
        res.end()
      })
    })
    const holder = await middleware.queue.acquire()
    await site.get('/')
    await holder.release()
    const [context] = seen
    expect(context).toMatchObject({ ticket: null, lease: null })
    expect(context!.waitedMs).toBeGreaterThanOrEqual(0)
    expect(context!.signal.aborted).toBe(false)
  })

  it('B31: lets a CORS preflight pass a saturated queue, and queues any other OPTIONS', async () => {
    const middleware = closing(fairQueue({ concurrency: 1, maxQueueSize: 0 }))
    const site = await openSite(framework, (app) => {
      app.use(middleware)
      app.options('/', (req, res) => void res.set('Access-Control-Allow-Origin', '*').json(req.fairQueue.lease))
    })
    const holder = await middleware.queue.acquire()
    const preflight = await site.fetch('OPTIONS', '/', { Origin: 'http://a', 'Access-Control-Request-Method': 'POST' })
    expect([preflight.status, preflight.header('access-control-allow-origin'), preflight.body]).toEqual([
      200,
      '*',
      'null',
    ])
    expect((await site.fetch('OPTIONS', '/', { Origin: 'http://a' })).status).toBe(503)
    await holder.release()
  })

  it('lets HEAD wait and take a place, silently', async () => {
    const middleware = closing(fairQueue({ concurrency: 1, statusDelayMs: 0, sse: 'always' }))
    const site = await openSite(
      framework,
      (app) => void app.get('/', middleware, (_req, res) => void res.set('X-Own', 'yes').send('hello')),
    )
    const holder = await middleware.queue.acquire()
    const answer = site.fetch('HEAD', '/')
    await waitingIs(middleware.queue, 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    await holder.release()
    const response = await answer
    expect([response.header('content-type'), response.header('x-own'), response.header('content-length')]).toEqual([
      'text/html; charset=utf-8',
      'yes',
      '5',
    ])
  })

  it('shares a queue between routes, and leaves it open when one of them is closed', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    const [first, second] = [fairQueue({ queue }), fairQueue({ queue, maxWaitMs: 0 })]
    expect(first.queue).toBe(queue)
    await first.close()
    expect(queue.closing).toBe(false)
    const site = await openSite(framework, (app) => void app.get('/', second, (_req, res) => void res.end()))
    const holder = await queue.acquire()
    expect((await site.get('/')).status).toBe(503)
    await holder.release()
    expect((await site.get('/')).status).toBe(200)
  })

  it('asks a function which queue a request waits in', async () => {
    const queues = {
      a: closing(new FairQueue({ concurrency: 1, maxQueueSize: 0 })),
      b: closing(new FairQueue({ concurrency: 1 })),
    }
    const middleware = fairQueue({ queue: (req) => queues[req.params['name'] as 'a' | 'b'] })
    expect(middleware.queue).toBeNull()
    const site = await openSite(framework, (app) => {
      app.get('/:name', middleware, (_req, res) => void res.end())
      app.use(showErrors)
    })
    const holder = await queues.a.acquire()
    expect([(await site.get('/a')).status, (await site.get('/b')).status]).toEqual([503, 200])
    expect((await site.get('/c')).body).toContain('The function "queue" must return a FairQueue, got undefined')
    await holder.release()
  })

  it('gives the permits and the longest wait that functions say, and the defaults for their nonsense', async () => {
    const middleware = closing(
      fairQueue({
        concurrency: 4,
        permits: (req) => Number(req.query['permits']),
        maxWaitMs: (req) => req.query['wait'] as string,
      }),
    )
    const errors: unknown[] = []
    middleware.queue.on('error', (error) => errors.push(error))
    const permits: number[] = []
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (req, res) => {
        permits.push(req.fairQueue.lease!.permits)
        res.end()
      })
    })
    await site.get('/?permits=3&wait=1s')
    expect(errors).toEqual([])
    await site.get('/?permits=x&wait=5')
    expect(permits).toEqual([3, 1])
    expect(errors.map((error) => (error as OptionError).option)).toEqual(['permits', 'maxWaitMs'])
    expect((await site.get('/?permits=5&wait=1s')).status).toBe(400)
  })

  describe('keyGenerator', () => {
    const waitForKey = async (
      keyGenerator: (req: Request) => unknown,
    ): Promise<{ status: number; body: string; keys: (string | null)[] }> => {
      const middleware = closing(fairQueue({ concurrency: 1, keyGenerator: keyGenerator as (req: Request) => string }))
      const keys: (string | null)[] = []
      middleware.queue.on('granted', ({ key }) => keys.push(key))
      const site = await openSite(framework, (app) => {
        app.get('/', middleware, (_req, res) => void res.end('ran'))
        app.use(showErrors)
      })
      const { status, body } = await site.get('/')
      await runningIs(middleware.queue, 0)
      return { status, body, keys }
    }

    it.each([
      ['a text', 'ann', 'ann'],
      ['nothing', undefined, null],
      ['null', null, null],
      ['the empty text', '', null],
      ['a promise', Promise.resolve('ben'), 'ben'],
      ['a promise of nothing', Promise.resolve(undefined), null],
    ])('takes %s', async (_what, returned, key) => {
      expect(await waitForKey(() => returned)).toEqual({ status: 200, body: 'ran', keys: [key] })
    })

    it.each<[string, () => unknown, string]>([
      [
        'throws',
        () => {
          throw new Error('no user')
        },
        'no user',
      ],
      ['rejects', () => Promise.reject(new Error('no user')), 'no user'],
      ['returns a number', () => 5, 'must return a text, null or undefined, got 5'],
      ['returns an object', () => ({}), 'must return a text, null or undefined, got a value of type object'],
      [
        'promises an object',
        () => Promise.resolve({}),
        'must return a text, null or undefined, got a value of type object',
      ],
      ['hangs', () => new Promise(() => undefined), 'was not kept within 1000 ms'],
    ])('that %s is an error of the request, and takes no place', async (_what, keyGenerator, message) => {
      const { status, body, keys } = await waitForKey(keyGenerator)
      expect([status, keys]).toEqual([500, []])
      expect(body).toContain(message)
    })
  })

  it('runs the handler in the AsyncLocalStorage of its own request, whoever made room for it', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const storage = new AsyncLocalStorage<string>()
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const seen: unknown[] = []
    const finish: (() => void)[] = []
    const site = await openSite(framework, (app) => {
      app.use((req, _res, next) => storage.run(req.url, next))
      app.get('/:name', middleware, (req, res) => {
        seen.push([req.url, storage.getStore()])
        finish.push(() => res.end())
      })
    })
    const answers = [site.get('/a')]
    await runningIs(middleware.queue, 1)
    answers.push(site.get('/b'))
    await waitingIs(middleware.queue, 1)
    finish.shift()!()
    await eventually(() => finish.length).toBe(1)
    finish.shift()!()
    await Promise.all(answers)
    expect(seen).toEqual([
      ['/a', '/a'],
      ['/b', '/b'],
    ])
  })

  it('refuses everybody with 503 when it is closed, while who runs may finish', async () => {
    const middleware = fairQueue({ concurrency: 1 })
    const finish: (() => void)[] = []
    const site = await openSite(
      framework,
      (app) => void app.get('/', middleware, (_req, res) => void finish.push(() => res.end('done'))),
    )
    const running = site.get('/')
    await runningIs(middleware.queue, 1)
    const waiting = site.get('/')
    await waitingIs(middleware.queue, 1)
    const closed = middleware.close()
    expect(JSON.parse((await waiting).body)).toMatchObject({ status: 503, code: 'FQ_DRAINING' })
    const late = await site.get('/')
    expect([late.status, late.header('connection'), late.header('retry-after')]).toEqual([503, 'close', '1'])
    finish[0]!()
    expect((await running).body).toBe('done')
    await closed
  })
})

describe('fairQueue', () => {
  it('refuses options that the given queue brings along, by name', async () => {
    const queue = new FairQueue({ concurrency: 1 })
    expect(() => createFairQueue({})({ queue, concurrency: 2 } as never)).toThrow(/"concurrency" belongs to the queue/)
    await queue.close()
  })

  it('lets defaults for making a queue rest where a queue is given', async () => {
    const queue = new FairQueue({ concurrency: 1 })
    const middleware = createFairQueue({ concurrency: 5, maxWaitMs: '1s' })({ queue })
    expect(middleware.queue).toBe(queue)
    await queue.close()
  })

  it('lets later options win over defaults', async () => {
    const middleware = createFairQueue({ concurrency: 5, leaseMs: '1m' })({ concurrency: 2 })
    expect(middleware.queue.settings).toMatchObject({ concurrency: 2, leaseMs: 60_000 })
    await middleware.close()
  })
})
