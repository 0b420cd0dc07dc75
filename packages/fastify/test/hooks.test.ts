import { describe, expect, it } from 'vitest'
import { fairQueue, type FairQueueHookName } from '@fairqueue/fastify'
import { openSite, runningIs, waitingIs } from './site.js'

const hookNames: readonly FairQueueHookName[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

describe('A queue', () => {
  it.each(hookNames)('in %s comes after all hooks of that name, and before the next', async (hook) => {
    const order: string[] = []
    const note = (name: string) => async (): Promise<void> => void order.push(name)
    const site = await openSite(async (app) => {
      await app.register(fairQueue, {
        concurrency: 1,
        hook,
        keyGenerator: ({ body }) => {
          order.push(`queue, ${body === undefined ? 'no body' : 'body'}`)
          return 'ann'
        },
      })
      const route = Object.fromEntries(hookNames.map((name) => [name, note(name)]))
      for (const name of hookNames) app.addHook(name as 'onRequest', note(`app ${name}`))
      app.post('/', route, () => 'done')
    })
    expect((await site.fetch('POST', '/', { 'Content-Type': 'application/json' }, '{"a":1}')).body).toBe('done')
    const at = hookNames.indexOf(hook)
    const expected = hookNames.flatMap((name) => [`app ${name}`, name])
    expected.splice(at * 2 + 2, 0, at < 2 ? 'queue, no body' : 'queue, body')
    expect(order).toEqual(expected)
  })

  it.each(hookNames)('B40: in %s loses nothing of a body that comes while the request waits', async (hook) => {
    const site = await openSite(async (app) => {
      await app.register(fairQueue, { concurrency: 1, hook })
      app.post<{ Body: { text: string } }>('/', ({ body }) => ({ length: body.text.length }))
    })
    const { queue } = site.app.fairQueue()
    const holder = await queue.acquire()
    const body = JSON.stringify({ text: 'x'.repeat(500_000) })
    const client = await site.connect()
    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    client.send(body.slice(0, 250_000))
    if (hook === 'onRequest' || hook === 'preParsing') await waitingIs(queue, 1)
    client.send(body.slice(250_000))
    await waitingIs(queue, 1)
    await holder.release()
    expect((await client.response('POST')).body).toBe('{"length":500000}')
    await runningIs(queue, 0)
    client.leave()
  })

  it('takes no place for a request that fails validation', async () => {
    const site = await openSite(async (app) => {
      await app.register(fairQueue, { concurrency: 1 })
      app.get('/', { schema: { querystring: { type: 'object', required: ['question'] } } }, () => 'done')
    })
    expect((await site.get('/')).status).toBe(400)
    expect((await site.app.fairQueue().queue.status()).grants).toBe(0)
  })
})
