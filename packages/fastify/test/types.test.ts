import { fastify, type FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { createFairQueue, fairQueue, type FairQueueContext, type FairQueuePluginOptions } from '@fairqueue/fastify'

// What is asserted here is mostly that this compiles.

it('types routes, hooks and requests, whatever else they are typed with', async () => {
  const app = fastify()
  await app.register(fairQueue, {
    global: false,
    keyGenerator: ({ headers, ip }) => headers['x-user']?.toString() ?? ip,
  })
  app.get<{ Querystring: { question: string } }>(
    '/typed',
    {
      config: { fairQueue: { concurrency: 4, permits: (request: FastifyRequest) => request.url.indexOf('typed') } },
      preHandler: [app.fairQueue({ concurrency: 1 })],
    },
    async (request) => {
      const { ticket, signal }: FairQueueContext = request.fairQueue
      return { question: request.query.question, ticket, aborted: signal.aborted }
    },
  )
  app.post<{ Body: { text: string }; Params: { id: string } }>(
    '/hooks/:id',
    { onRequest: app.fairQueue({ concurrency: 1 }), preParsing: app.fairQueue({ concurrency: 1 }) },
    async (request) => request.body.text,
  )
  app.get('/none', { config: { fairQueue: false } }, () => 'free')
  // @ts-expect-error a limit is a number
  expect(() => app.get('/wrong', { config: { fairQueue: { concurrency: 'four' } } }, () => '')).toThrow(/concurrency/)
  const chosen = app.fairQueue({ queue: () => app.fairQueue({ concurrency: 1 }).queue })
  const none: null = chosen.queue
  expect(none).toBeNull()
  const answer = await app.inject('/typed?question=why')
  expect(answer.json()).toMatchObject({ question: 'why', aborted: false })
  await app.close()
})

it('types apps on HTTP/2, and plugins with defaults', async () => {
  const app = fastify({ http2: true })
  const options: FairQueuePluginOptions = { concurrency: 1 }
  await app.register(createFairQueue(options))
  app.get('/', { preHandler: app.fairQueue() }, (request) => request.fairQueue.ticket !== null)
  expect((await app.inject('/')).body).toBe('true')
  await app.close()
})

it('registers what `import()` gives', async () => {
  const app = fastify()
  await app.register(import('@fairqueue/fastify'), { concurrency: 1 })
  app.get('/', async (request) => ({ placed: request.fairQueue.ticket !== null }))
  expect((await app.inject('/')).json()).toEqual({ placed: true })
  await app.close()
})
