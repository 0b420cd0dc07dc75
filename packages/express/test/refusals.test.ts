import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import {
  FairQueue,
  isFairQueueError,
  StoreUnavailableError,
  type Instance,
  type JoinOptions,
  type Place,
  type Store,
} from '@fairqueue/core'
import { fairQueue, type FairQueueContext, type FairQueueMiddlewareOptions, type Refusal } from '@fairqueue/express'
import { closing, eventually, expressVersions, openSite, showErrors } from './site.js'

describe.each(expressVersions)('A refused request on $version', ({ framework }) => {
  const openFull = async (options: FairQueueMiddlewareOptions = {}) => {
    const middleware = closing(
      fairQueue({ name: 'chat', concurrency: 1, maxQueueSize: 0, ...options } as { concurrency: number }),
    )
    const runs = vi.fn<() => void>()
    const site = await openSite(framework, (app) => {
      app.all('/', middleware, (_req, res) => {
        runs()
        res.end()
      })
      app.use(showErrors)
    })
    await middleware.queue.acquire()
    return { middleware, site, runs }
  }

  it('gets a problem document with all that it needs to know', async () => {
    const { site, runs } = await openFull()
    const { status, statusText, header, body } = await site.get('/')
    expect([status, statusText]).toEqual([503, 'Service Unavailable'])
    expect(body).toBe(
      '{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Request cannot be satisfied due to temporary server capacity constraints","status":503,"detail":"The line of queue \\"chat\\" is full.","code":"FQ_QUEUE_FULL","retryAfter":5,"violated-policies":["chat"]}',
    )
    expect(header('content-type')).toBe('application/problem+json')
    expect(header('cache-control')).toBe('no-store')
    expect(header('retry-after')).toBe('5')
    expect(header('ratelimit-policy')).toBe('"chat";q=1;qu="concurrent-requests"')
    expect(header('ratelimit')).toBe('"chat";r=0;t=5')
    expect(runs).not.toHaveBeenCalled()
  })

  it('gets 400, and no Retry-After, for more permits than there are', async () => {
    const { site } = await openFull({ permits: () => 2 })
    const { status, header, body } = await site.get('/')
    expect([status, header('retry-after'), header('ratelimit')]).toEqual([400, undefined, undefined])
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: '2 permits are more than queue "chat" can ever give.',
      code: 'FQ_PERMITS_EXCEED_LIMIT',
    })
  })

  it.each<[string, FairQueueMiddlewareOptions, number]>([
    ['a number', { statusCode: 429 }, 429],
    ['one per code', { statusCode: { FQ_QUEUE_FULL: 420 } }, 420],
    ['one for another code', { statusCode: { FQ_WAIT_TIMEOUT: 429 } }, 503],
  ])('gets the status that statusCode says: %s', async (_what, options, status) => {
    const { site } = await openFull(options)
    const answer = await site.get('/')
    expect([answer.status, (JSON.parse(answer.body) as { status: number }).status]).toEqual([status, status])
  })

  it.each<[string, FairQueueMiddlewareOptions['message'], string, string]>([
    ['a text', 'Full.', 'text/plain; charset=utf-8', 'Full.'],
    ['an object', { full: true }, 'application/json; charset=utf-8', '{"full":true}'],
    [
      'a function',
      (req, { code, retryAfter }) => ({ path: req.path, code, retryAfter }),
      'application/json; charset=utf-8',
      '{"path":"/","code":"FQ_QUEUE_FULL","retryAfter":5}',
    ],
  ])('gets what message says: %s', async (_what, message, type, text) => {
    const { site } = await openFull({ message: message! })
    const { status, header, body } = await site.get('/')
    expect([status, header('content-type'), body, header('retry-after')]).toEqual([503, type, text, '5'])
  })

  it('gets the ordinary answer when the function message throws, and the queue tells', async () => {
    const { site, middleware } = await openFull({
      message: () => {
        throw new Error('no words')
      },
    })
    const errors: unknown[] = []
    middleware.queue.on('error', (error) => errors.push(error))
    expect((await site.get('/')).header('content-type')).toBe('application/problem+json')
    expect(errors).toEqual([new Error('no words')])
  })

  it('is left to the option handler, which may answer, pass on or fail', async () => {
    const handler: FairQueueMiddlewareOptions['handler'] = async (req, res, next, refusal) => {
      await Promise.resolve()
      if (req.query['do'] === 'answer') res.status(202).json({ later: refusal.code })
      else if (req.query['do'] === 'pass') next()
      else throw new Error('boom')
    }
    const { site, runs } = await openFull({ handler })
    expect((await site.get('/?do=answer')).body).toBe('{"later":"FQ_QUEUE_FULL"}')
    expect((await site.get('/?do=pass')).status).toBe(200)
    expect(runs).toHaveBeenCalledOnce()
    expect(await site.get('/?do=fail')).toMatchObject({ status: 500, body: 'boom' })
  })

  it('is seen by onRejected, whatever that does', async () => {
    const seen: Refusal[] = []
    const { site, middleware } = await openFull({
      keyGenerator: () => 'ann',
      onRejected: (_req, refusal) => {
        seen.push(refusal)
        throw new Error('not my day')
      },
    })
    const errors: unknown[] = []
    middleware.queue.on('error', (error) => errors.push(error))
    expect((await site.get('/')).status).toBe(503)
    expect(seen).toMatchObject([{ code: 'FQ_QUEUE_FULL', status: 503, retryAfter: 5, queue: 'chat', key: 'ann' }])
    expect(isFairQueueError(seen[0]!.error)).toBe(true)
    expect(errors).toEqual([new Error('not my day')])
  })

  const allFields = ['ratelimit-policy', 'ratelimit', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

  it.each<[FairQueueMiddlewareOptions['standardHeaders'], (string | undefined)[], string]>([
    [
      'draft-8',
      ['"chat";q=1;qu="concurrent-requests"', '"other";r=9, "chat";r=0;t=5', '9', undefined, undefined],
      'Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit',
    ],
    [
      'draft-7',
      [undefined, 'limit=1, remaining=0, reset=5', '9', undefined, undefined],
      'Retry-After, RateLimit, RateLimit-Limit',
    ],
    [
      'draft-6',
      [undefined, '"other";r=9', '1', '0', '5'],
      'Retry-After, RateLimit, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset',
    ],
    [false, [undefined, '"other";r=9', '9', undefined, undefined], 'Retry-After, RateLimit, RateLimit-Limit'],
  ])(
    'gets the fields of %s, exposed to scripts, beside or over those of a limiter before it',
    async (standardHeaders, fields, exposed) => {
      const middleware = closing(
        fairQueue({ name: 'chat', concurrency: 1, maxQueueSize: 0, standardHeaders: standardHeaders! }),
      )
      const site = await openSite(framework, (app) => {
        app.use((_req, res, next) => {
          res.set({ 'Access-Control-Allow-Origin': '*', RateLimit: '"other";r=9', 'RateLimit-Limit': '9' })
          next()
        })
        app.get('/', middleware)
      })
      await middleware.queue.acquire()
      const { header } = await site.get('/')
      expect(allFields.map(header)).toEqual(fields)
      expect(header('access-control-expose-headers')).toBe(exposed)
      expect(header('retry-after')).toBe('5')
    },
  )

  it('gets no RateLimit fields when standardHeaders is false', async () => {
    const { site } = await openFull({ standardHeaders: false })
    const { header } = await site.get('/')
    expect([header('ratelimit'), header('ratelimit-policy'), header('retry-after')]).toEqual([
      undefined,
      undefined,
      '5',
    ])
  })

  it('B31: keeps the headers of a CORS layer, which then exposes ours', async () => {
    const middleware = closing(fairQueue({ name: 'a"b\\c', concurrency: 1, maxQueueSize: 0 }))
    const site = await openSite(framework, (app) => {
      app.use((_req, res, next) => {
        res.set({
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Expose-Headers': 'X-Own',
          RateLimit: '"other";r=3',
          'X-Own': '1',
        })
        next()
      })
      app.get('/', middleware)
    })
    await middleware.queue.acquire()
    const { header } = await site.get('/')
    expect([header('access-control-allow-origin'), header('x-own')]).toEqual(['*', '1'])
    expect(header('access-control-expose-headers')).toBe('X-Own, Retry-After, RateLimit, RateLimit-Policy')
    expect(header('ratelimit')).toBe('"other";r=3, "a\\"b\\\\c";r=0;t=5')
  })

  it.each<[string, number, string]>([
    ['an estimate', 1200, '2'],
    ['an estimate under a second', 1, '1'],
    ['a full second', 1000, '1'],
    ['a little more', 1001, '2'],
    ['nothing', 0, '1'],
    ['a moment in the past', -5000, '1'],
    ['no number', Number.NaN, '5'],
    ['for ever', Infinity, '60'],
    ['more than the cap', 36_000_000, '60'],
  ])(
    'B25: gets whole seconds, rounded up, at least 1 and capped, the same in header and body: %s',
    async (_what, etaMs, seconds) => {
      const store = new FailingStore((place) => place.onRefused('full'))
      const queue = closing(new FairQueue({ name: 'chat', store, concurrency: 1, logger: { warn: () => undefined } }))
      const middleware = fairQueue({ queue, retryAfter: { maxMs: '1m' } })
      vi.spyOn(queue, 'enter').mockImplementation((options) => {
        const ticket = FairQueue.prototype.enter.call(queue, options)
        Object.defineProperty(ticket.outcome, 'retryAfterMs', { value: etaMs })
        return ticket
      })
      const site = await openSite(framework, (app) => void app.get('/', middleware))
      const { header, body } = await site.get('/')
      expect([header('retry-after'), (JSON.parse(body) as { retryAfter: number }).retryAfter]).toEqual([
        seconds,
        Number(seconds),
      ])
      expect(header('ratelimit')).toBe(`"chat";r=0;t=${seconds}`)
    },
  )

  describe('while the store is away', () => {
    const failures: readonly (readonly [string, (place: Place) => void])[] = [
      ['rejects', (place) => place.onRefused('unavailable', new Error('down'))],
      ['rejects after a while', (place) => void setTimeout(() => place.onRefused('unavailable', undefined), 5)],
    ]

    const openFailing = async (fail: (place: Place) => void, onStoreError: 'open' | 'closed') => {
      const warn = vi.fn<() => void>()
      const store = new FailingStore(fail)
      const middleware = closing(
        fairQueue({ name: 'chat', store, concurrency: 1, onStoreError, statusCode: 429, logger: { warn } }),
      )
      const contexts: FairQueueContext[] = []
      const next = vi.fn<() => void>()
      const site = await openSite(framework, (app) => {
        app.get(
          '/',
          (req, res, goOn) =>
            middleware(req, res, (error?: unknown) => {
              next()
              goOn(error)
            }),
          (req, res) => {
            contexts.push(req.fairQueue)
            res.end('ran')
          },
        )
      })
      return { site, next, contexts, warn, middleware }
    }

    it.each(failures)(
      "B21: gets 503 with its own code, never 429, when the store %s and onStoreError is 'closed'",
      async (_what, fail) => {
        const { site, next, warn } = await openFailing(fail, 'closed')
        for (let i = 0; i < 3; i += 1) {
          const { status, header, body } = await site.get('/')
          expect([status, header('ratelimit'), header('retry-after')]).toEqual([503, undefined, '1'])
          expect(JSON.parse(body)).toEqual({
            type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
            title: 'Request cannot be satisfied due to temporary server capacity constraints',
            status: 503,
            detail: 'The store could not decide in time.',
            code: 'FQ_STORE_UNAVAILABLE',
            retryAfter: 1,
          })
        }
        expect(next).not.toHaveBeenCalled()
        expect(warn).toHaveBeenCalledOnce()
      },
    )

    it.each(failures)(
      "B21: passes uncounted, with one call of next, when the store %s and onStoreError is 'open'",
      async (_what, fail) => {
        const { site, next, contexts, middleware } = await openFailing(fail, 'open')
        expect((await site.get('/')).body).toBe('ran')
        expect(next).toHaveBeenCalledOnce()
        expect(contexts[0]).toMatchObject({ ticket: null, lease: null })
        expect(contexts[0]!.signal.aborted).toBe(false)
        await eventually(async () => (await middleware.queue.status()).local.running).toBe(0)
      },
    )
  })

  it('can be read by a client that is still sending a large upload, whose connection then ends', async () => {
    const { site, middleware } = await openFull()
    const sockets: Socket[] = []
    site.server.on('connection', (socket) => sockets.push(socket))
    const client = await site.connect()
    const size = 50 * 1024 * 1024
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    client.send(Buffer.alloc(size))
    const { status, header, body } = await client.response('POST')
    expect([status, header('connection')]).toEqual([503, 'close'])
    expect(JSON.parse(body)).toMatchObject({ code: 'FQ_QUEUE_FULL' })
    await client.closed
    expect(sockets[0]!.bytesRead).toBeLessThan(size)
    expect((await middleware.queue.status()).local.waiting).toBe(0)
  })

  it('whose upload of unknown length is read to its end gets its answer and a clean close', async () => {
    const { site } = await openFull()
    const client = await site.connect()
    client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n')
    const { status } = await client.response('POST')
    client.send('0\r\n\r\n')
    await client.closed
    expect([status, client.received]).toEqual([503, ''])
  })

  it('that nobody has read the short body of may use its connection again', async () => {
    const { site } = await openFull()
    const client = await site.connect()
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234')
    const first = await client.response('POST')
    const second = await client.send('56789').request('GET', '/').response()
    expect([first.status, second.status]).toEqual([503, 503])
    client.leave()
  })
})

/** A store that answers every place in one way. */
class FailingStore implements Store {
  readonly kind = 'failing'
  readonly #fail: (place: Place) => void

  constructor(fail: (place: Place) => void) {
    this.#fail = fail
  }

  join({ listener }: JoinOptions): Instance {
    let healthy = true
    return {
      id: 'a',
      enter: (place) => {
        if (healthy) {
          healthy = false
          listener.healthChanged(false, new Error('down'))
        }
        this.#fail(place)
      },
      giveUp: () => Promise.resolve(),
      status: () => Promise.reject(new StoreUnavailableError('down')),
      configure: () => Promise.reject(new StoreUnavailableError('down')),
      leave: () => Promise.resolve(),
    }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
