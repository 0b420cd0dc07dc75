import type { Socket } from 'node:net'

import { FairQueue, isFairQueueError } from '../../index.js'
import type { Refusal } from '../../http.js'
import { FakeClock } from '../fakeClock.js'
import type { Adapter, AdapterOptions, RefusalHandler } from './adapter.js'
import { FailingStore } from './failingStore.js'
import { closing, openGate, openSite, queried } from './site.js'
import { below, deepEqual, equal, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

export function refusalTests(adapter: Adapter): void {
  const openFull = async (options: AdapterOptions = {}) => {
    const { gate, queue } = openGate(adapter, { name: 'chat', concurrency: 1, maxQueueSize: 0, ...options })
    const runs = spy<() => void>()
    const site = await openSite(adapter, {
      showErrors: true,
      routes: [
        {
          method: 'ALL',
          path: '/',
          gate,
          handler: ({ text }) => {
            runs()
            return text('ran')
          },
        },
      ],
    })
    await queue.acquire()
    return { queue, site, runs }
  }

  test('gets a problem document with all that it needs to know', async () => {
    const { site, runs } = await openFull()
    const { status, statusText, header, body } = await site.get('/')
    deepEqual([status, statusText], [503, 'Service Unavailable'])
    equal(
      body,
      '{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Request cannot be satisfied due to temporary server capacity constraints","status":503,"detail":"The line of queue \\"chat\\" is full.","code":"FQ_QUEUE_FULL","retryAfter":5,"violated-policies":["chat"],"error":{"type":"overloaded_error","code":"FQ_QUEUE_FULL","message":"The line of queue \\"chat\\" is full."}}',
    )
    equal(header('content-type'), 'application/problem+json')
    equal(header('content-length'), String(Buffer.byteLength(body)))
    equal(header('cache-control'), 'no-store')
    equal(header('retry-after'), '5')
    equal(header('ratelimit-policy'), '"chat";q=1;qu="concurrent-requests"')
    equal(header('ratelimit'), '"chat";r=0;t=5')
    deepEqual(runs.calls, [])
  })

  test('gets 400, and no Retry-After, for more permits than there are', async () => {
    const { site } = await openFull({ permits: () => 2 })
    const { status, header, body } = await site.get('/')
    deepEqual([status, header('retry-after'), header('ratelimit')], [400, undefined, undefined])
    deepEqual(JSON.parse(body), {
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: '2 permits are more than queue "chat" can ever give.',
      code: 'FQ_PERMITS_EXCEED_LIMIT',
      error: {
        type: 'invalid_request_error',
        code: 'FQ_PERMITS_EXCEED_LIMIT',
        message: '2 permits are more than queue "chat" can ever give.',
      },
    })
  })

  test.each<[string, AdapterOptions, number]>([
    ['a number', { statusCode: 429 }, 429],
    ['one per code', { statusCode: { FQ_QUEUE_FULL: 420 } }, 420],
    ['one for another code', { statusCode: { FQ_WAIT_TIMEOUT: 429 } }, 503],
  ])('gets the status that statusCode says: %s', async (_what, options, status) => {
    const { site } = await openFull(options)
    const answer = await site.get('/')
    deepEqual([answer.status, (JSON.parse(answer.body) as { status: number }).status], [status, status])
  })

  test.each<[string, NonNullable<AdapterOptions['message']>, string, string]>([
    ['a text', 'Full.', 'text/plain; charset=utf-8', 'Full.'],
    ['an object', { full: true }, 'application/json; charset=utf-8', '{"full":true}'],
    [
      'a function',
      ({ originalUrl }, { code, retryAfter }) => ({ url: originalUrl, code, retryAfter }),
      'application/json; charset=utf-8',
      '{"url":"/","code":"FQ_QUEUE_FULL","retryAfter":5}',
    ],
  ])('gets what message says: %s', async (_what, message, type, text) => {
    const { site } = await openFull({ message })
    const { status, header, body } = await site.get('/')
    deepEqual([status, header('content-type'), body, header('retry-after')], [503, type, text, '5'])
  })

  test('gets the ordinary answer when the function message throws, and the queue tells', async () => {
    const { site, queue } = await openFull({
      message: () => {
        throw new Error('no words')
      },
    })
    const errors: unknown[] = []
    queue.on('error', (error) => errors.push(error))
    equal((await site.get('/')).header('content-type'), 'application/problem+json')
    deepEqual(errors, [new Error('no words')])
  })

  test('is left to the option handler, which may answer, pass on or fail', async () => {
    const handler: RefusalHandler = async ({ request, json }, refusal, pass) => {
      await Promise.resolve()
      if (queried(request, 'do') === 'answer') return json({ later: refusal.code }, { status: 202 })
      if (queried(request, 'do') === 'pass') return pass()
      throw new Error('boom')
    }
    const { site, runs } = await openFull({ handler: adapter.refusalHandler(handler) })
    matches(await site.get('/?do=answer'), { status: 202, body: '{"later":"FQ_QUEUE_FULL"}' })
    deepEqual(runs.calls, [])
    matches(await site.get('/?do=pass'), { status: 200, body: 'ran' })
    equal(runs.calls.length, 1)
    matches(await site.get('/?do=fail'), { status: 500, body: 'boom' })
  })

  test('is seen by onRejected, whatever that does', async () => {
    const seen: Refusal[] = []
    const { site, queue } = await openFull({
      keyGenerator: () => 'ann',
      onRejected: (_request, refusal) => {
        seen.push(refusal)
        throw new Error('not my day')
      },
    })
    const errors: unknown[] = []
    queue.on('error', (error) => errors.push(error))
    equal((await site.get('/')).status, 503)
    matches(seen, [{ code: 'FQ_QUEUE_FULL', status: 503, retryAfter: 5, queue: 'chat', key: 'ann' }])
    equal(isFairQueueError(seen[0]!.error), true)
    deepEqual(errors, [new Error('not my day')])
  })

  const allFields = ['ratelimit-policy', 'ratelimit', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

  test.each<[NonNullable<AdapterOptions['standardHeaders']>, (string | undefined)[], string]>([
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
      const { gate, queue } = openGate(adapter, { name: 'chat', concurrency: 1, maxQueueSize: 0, standardHeaders })
      const site = await openSite(adapter, {
        headers: { 'Access-Control-Allow-Origin': '*', RateLimit: '"other";r=9', 'RateLimit-Limit': '9' },
        routes: [{ path: '/', gate, handler: ({ text }) => text('') }],
      })
      await queue.acquire()
      const { header } = await site.get('/')
      deepEqual(allFields.map(header), fields)
      equal(header('access-control-expose-headers'), exposed)
      equal(header('retry-after'), '5')
    },
  )

  test('gets no RateLimit fields when standardHeaders is false', async () => {
    const { site } = await openFull({ standardHeaders: false })
    const { header } = await site.get('/')
    deepEqual([header('ratelimit'), header('ratelimit-policy'), header('retry-after')], [undefined, undefined, '5'])
  })

  test('B31: keeps the headers of a CORS layer, which then exposes ours', async () => {
    const { gate, queue } = openGate(adapter, { name: 'a"b\\c', concurrency: 1, maxQueueSize: 0 })
    const site = await openSite(adapter, {
      headers: {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'X-Own',
        RateLimit: '"other";r=3',
        'X-Own': '1',
      },
      routes: [{ path: '/', gate, handler: ({ text }) => text('') }],
    })
    await queue.acquire()
    const { header } = await site.get('/')
    deepEqual([header('access-control-allow-origin'), header('x-own')], ['*', '1'])
    equal(header('access-control-expose-headers'), 'X-Own, Retry-After, RateLimit, RateLimit-Policy')
    equal(header('ratelimit'), '"other";r=3, "a\\"b\\\\c";r=0;t=5')
  })

  test.each<[string, number, string]>([
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
      const gate = adapter.gate({ queue, retryAfter: { maxMs: '1m' } })
      queue.enter = (options) => {
        const ticket = FairQueue.prototype.enter.call(queue, options)
        Object.defineProperty(ticket.outcome, 'retryAfterMs', { value: etaMs })
        return ticket
      }
      const site = await openSite(adapter, { routes: [{ path: '/', gate, handler: ({ text }) => text('') }] })
      const { header, body } = await site.get('/')
      deepEqual(
        [header('retry-after'), (JSON.parse(body) as { retryAfter: number }).retryAfter],
        [seconds, Number(seconds)],
      )
      equal(header('ratelimit'), `"chat";r=0;t=${seconds}`)
    },
  )

  test('B25: succeeds when it comes back exactly when it was told to, if nobody else competes', async () => {
    const clock = new FakeClock()
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxQueueSize: 0, clock })
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler: ({ text }) => text('ran') }] })
    /** Somebody who runs for three seconds, as somebody who looks at the queue can see. */
    const run = async (): Promise<void> => {
      const lease = await queue.acquire()
      clock.setTimer(() => void lease.release(), 3000, 'background')
      await queue.status()
    }
    for (let i = 0; i < 5; i += 1) {
      await run()
      await clock.advance(3000)
    }
    await run()
    const refused = await site.get('/')
    deepEqual([refused.status, refused.header('retry-after')], [503, '3'])
    await clock.advance(3000)
    equal((await site.get('/')).body, 'ran')
  })

  test('Case 26: can be read by a client that is still sending a large upload, whose connection then ends', async () => {
    const { site, queue } = await openFull()
    const sockets: Socket[] = []
    site.server.on('connection', (socket) => sockets.push(socket))
    const client = await site.connect()
    const size = 50 * 1024 * 1024
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    client.send(Buffer.alloc(size))
    const { status, header, body } = await client.response('POST')
    deepEqual([status, header('connection')], [503, 'close'])
    matches(JSON.parse(body), { code: 'FQ_QUEUE_FULL' })
    await client.closed
    below(sockets[0]!.bytesRead, size)
    equal((await queue.status()).local.waiting, 0)
  })

  test('whose upload of unknown length is read to its end gets its answer and a clean close', async () => {
    const { site } = await openFull()
    const client = await site.connect()
    client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n')
    const { status } = await client.response('POST')
    client.send('0\r\n\r\n')
    await client.closed
    deepEqual([status, client.received], [503, ''])
  })

  test('that nobody has read the short body of may use its connection again', async () => {
    const { site } = await openFull()
    const client = await site.connect()
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234')
    const first = await client.response('POST')
    const second = await client.send('56789').request('GET', '/').response()
    deepEqual([first.status, second.status], [503, 503])
    client.leave()
  })
}
