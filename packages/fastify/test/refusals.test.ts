import { describe, expect, it, vi } from 'vitest'
import { clientAddress, fairQueue, type FairQueuePluginOptions, type Refusal } from '@fairqueue/fastify'
import type { FastifyInstance } from 'fastify'
import { asksForEvents, openSite, runningIs, type Site } from './site.js'

/** A route at `/` behind a full line called `chat`. */
async function openFull(
  options: Partial<FairQueuePluginOptions>,
  more: (app: FastifyInstance) => unknown = () => undefined,
): Promise<Site> {
  const site = await openSite(async (app) => {
    more(app)
    await app.register(fairQueue, { name: 'chat', concurrency: 1, maxQueueSize: 0, closeGraceMs: 0, ...options })
    app.all('/', () => 'ran')
  })
  await site.app.fairQueue().queue.acquire()
  return site
}

describe('A refused request', () => {
  it("is answered through the app's own onSend hooks, with the headers of its reply", async () => {
    const seen: unknown[] = []
    const site = await openFull({}, (app) => {
      app.addHook('onRequest', async (_request, reply) => void reply.header('x-request', '1'))
      app.addHook('onSend', async (_request, reply, payload) => {
        seen.push(payload)
        reply.header('x-send', '2')
      })
    })
    const answer = await site.get('/')
    expect([answer.status, answer.header('x-request'), answer.header('x-send')]).toEqual([503, '1', '2'])
    expect(answer.header('content-type')).toBe('application/problem+json')
    expect(seen).toHaveLength(1)
  })

  it('is an error of the kind that errorResponseBuilder makes, and goes to the error handler', async () => {
    const refusals: Refusal[] = []
    const site = await openFull(
      {
        errorResponseBuilder: ({ url }, refusal) => {
          refusals.push(refusal)
          return Object.assign(new Error(`${url} is busy`), { statusCode: 429, code: refusal.code })
        },
      },
      (app) => {
        app.setErrorHandler((error: Error & { statusCode: number; code: string }, _request, reply) =>
          reply.code(error.statusCode).send({ ours: error.message, code: error.code }),
        )
      },
    )
    const { status, body, header } = await site.get('/')
    expect([status, JSON.parse(body)]).toEqual([429, { ours: '/ is busy', code: 'FQ_QUEUE_FULL' }])
    expect([header('retry-after'), header('content-type')]).toEqual(['5', 'application/json; charset=utf-8'])
    expect(header('content-length')).toBe(String(body.length))
    expect(refusals).toMatchObject([{ code: 'FQ_QUEUE_FULL', status: 503, queue: 'chat' }])
  })

  it.each<[string, unknown, number, object]>([
    ['an Error', new Error('busy'), 503, { statusCode: 503, error: 'Service Unavailable', message: 'busy' }],
    ['an object', { busy: true }, 503, { busy: true }],
    ['an object with a status', { statusCode: 429, busy: true }, 429, { statusCode: 429, busy: true }],
  ])('needs no error handler for what errorResponseBuilder makes: %s', async (_what, made, status, body) => {
    const answer = await (await openFull({ errorResponseBuilder: () => made })).get('/')
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, body])
  })

  it.each<[string, () => unknown, string]>([
    ['makes nothing', () => undefined, 'A function among the options of fairQueue threw nothing.'],
    [
      'throws',
      () => {
        throw new Error('no words')
      },
      'no words',
    ],
  ])('stays refused when errorResponseBuilder %s', async (_what, errorResponseBuilder, message) => {
    const { status, body } = await (await openFull({ errorResponseBuilder })).get('/')
    expect([status, JSON.parse(body)]).toMatchObject([503, { message }])
  })

  it('gets what errorResponseBuilder makes as an error event, too, once it has been told of its wait', async () => {
    const site = await openSite(async (app) => {
      await app.register(fairQueue, {
        concurrency: 1,
        statusDelayMs: 0,
        maxWaitMs: 100,
        closeGraceMs: 0,
        errorResponseBuilder: () => Object.assign(new Error('too long'), { statusCode: 504 }),
      })
      app.get('/', () => 'ran')
    })
    await site.app.fairQueue().queue.acquire()
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('"state":"waiting"')
    expect((await client.response()).body).toContain('"errorText":"too long","status":504')
    client.leave()
  })

  it.each<[string, NonNullable<FairQueuePluginOptions['handler']>]>([
    ['sends', (_request, reply) => void reply.code(429).send({ own: true })],
    ['returns', (_request, reply) => ({ own: reply.code(429) !== null })],
    [
      'promises',
      async (_request, reply) => {
        reply.code(429)
        await Promise.resolve()
        return { own: true }
      },
    ],
    ['returns the reply', (_request, reply) => reply.code(429).send({ own: true })],
  ])('is answered by what the option handler %s', async (_how, handler) => {
    const { status, body, header } = await (await openFull({ handler })).get('/')
    expect([status, JSON.parse(body), header('retry-after')]).toEqual([429, { own: true }, undefined])
  })

  it('whose key cannot be told is an error of the request, also if nothing was thrown', async () => {
    const site = await openSite(async (app) => {
      await app.register(fairQueue, {
        concurrency: 1,
        keyGenerator: vi.fn<() => Promise<string>>().mockRejectedValue(undefined),
      })
      app.get('/', () => 'ran')
    })
    expect((await site.get('/')).status).toBe(500)
    await runningIs(site.app.fairQueue().queue, 0)
  })

  it('B26: is told from others by the address that trustProxy finds, where the key is to be that', async () => {
    const keys: unknown[] = []
    const site = await openSite(
      async (app) => {
        await app.register(fairQueue, {
          concurrency: 1,
          keyGenerator: clientAddress({ trustProxy: 'framework' }),
        })
        app.fairQueue().queue.on('granted', ({ key }) => keys.push(key))
        app.get('/', () => 'ran')
      },
      { trustProxy: '127.0.0.1' },
    )
    await site.get('/', { 'X-Forwarded-For': '203.0.113.9' })
    await site.get('/')
    expect(keys).toEqual(['203.0.113.9', '127.0.0.1'])
  })
})
