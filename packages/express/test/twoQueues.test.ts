import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import { describe, expect, it, vi } from 'vitest'
import { FairQueue, MemoryStore, type Logger } from '@fairqueue/core'
import { fairQueue, type FairQueueContext, type FairQueueMiddleware } from '@fairqueue/express'
import { asksForEvents, closing, eventually, expressVersions, openSite, runningIs } from './site.js'

describe.each(expressVersions)('A request that reaches one queue twice on $version', ({ framework }) => {
  const twice: readonly (readonly [
    string,
    (warn: Logger['warn']) => readonly [FairQueueMiddleware, FairQueueMiddleware],
  ])[] = [
    [
      'by the same middleware',
      (warn) => {
        const middleware = fairQueue({ concurrency: 1, logger: { warn } })
        return [middleware, middleware]
      },
    ],
    [
      'by two middlewares that share it',
      (warn) => {
        const queue = closing(new FairQueue({ concurrency: 1, logger: { warn } }))
        return [fairQueue({ queue }), fairQueue({ queue })]
      },
    ],
    [
      'by two queues of one name on one store',
      (warn) => {
        const options = { name: 'chat', store: new MemoryStore(), concurrency: 1, logger: { warn } }
        return [fairQueue(options), fairQueue(options)]
      },
    ],
    [
      'by its name in the memory of the process',
      (warn) => {
        const options = { name: randomUUID(), concurrency: 1, logger: { warn } }
        return [fairQueue(options), fairQueue(options)]
      },
    ],
  ]

  it.each(twice)('%s is counted once, and told of once', async (_how, make) => {
    const warn = vi.fn<Logger['warn']>()
    const [outer, inner] = make(warn)
    closing(outer)
    closing(inner)
    const contexts: FairQueueContext[] = []
    const finish: (() => void)[] = []
    const site = await openSite(framework, (app) => {
      app.use(outer)
      app.get('/', (req, _res, next) => {
        contexts.push(req.fairQueue)
        next()
      })
      app.get('/', inner, (req, res) => {
        contexts.push(req.fairQueue)
        finish.push(() => res.end('done'))
      })
    })
    for (let i = 1; i <= 3; i += 1) {
      const answer = site.get('/')
      await eventually(() => finish.length).toBe(1)
      expect((await outer.queue.status()).running).toBe(1)
      const [first, second] = contexts.splice(0)
      expect(second!.ticket).toBe(first!.ticket)
      expect([second!.lease, second!.signal, second!.waitedMs]).toEqual([first!.lease, first!.signal, first!.waitedMs])
      finish.pop()!()
      expect((await answer).body).toBe('done')
      await runningIs(outer.queue, 0)
    }
    expect((await outer.queue.status()).grants).toBe(3)
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      `A request came to queue ${JSON.stringify(outer.queue.name)} twice, by two middlewares on its way, and is counted once. Mount it once per route.`,
      { code: 'FQ_REACHED_TWICE' },
    )
  })

  it('takes a place at the route when it was skipped at the application', async () => {
    const queue = closing(new FairQueue({ concurrency: 1 }))
    const site = await openSite(framework, (app) => {
      app.use(fairQueue({ queue, skip: () => true }))
      app.get('/', fairQueue({ queue }), (req, res) => void res.json(req.fairQueue.ticket))
    })
    expect((await site.get('/')).body).toMatch(/^"[0-9a-f-]{36}"$/)
  })

  it('frees its place when the client leaves, though the inner middleware knows the handler’s end', async () => {
    const queue = closing(new FairQueue({ concurrency: 1, logger: { warn: () => undefined } }))
    let entered = 0
    const site = await openSite(framework, (app) => {
      app.use(fairQueue({ queue, abortGraceMs: 20 }))
      app.get(
        '/',
        fairQueue.wrap({ queue }, async (req) => {
          entered += 1
          await new Promise((resolve) => req.fairQueue.signal.addEventListener('abort', resolve))
        }),
      )
    })
    const client = (await site.connect()).request('GET', '/')
    await eventually(() => entered).toBe(1)
    client.leave()
    await eventually(async () => (await queue.status()).running).toBe(0)
    expect((await queue.status()).grants).toBe(1)
  })
})

describe.each(expressVersions)('Two queues that two routes take in opposite order on $version', ({ framework }) => {
  const open = async () => {
    const warn = vi.fn<Logger['warn']>()
    const logger = { warn }
    const options = { concurrency: 1, logger, maxWaitMs: 100, store: new MemoryStore() }
    const a = closing(fairQueue({ ...options, name: 'a' }))
    const b = closing(fairQueue({ ...options, name: 'b' }))
    const met: (() => void)[] = []
    const site = await openSite(framework, (app) => {
      // Both hold their first place before either asks for its second one.
      const meeting: RequestHandler = (_req, _res, next) => {
        met.push(next)
        if (met.length === 2) for (const goOn of met) goOn()
        if (met.length > 2) next()
      }
      app.get('/ab', a, meeting, b, (_req, res) => void res.type('text/event-stream').end('data: ab\n\n'))
      app.get('/ba', b, meeting, a, (_req, res) => void res.type('text/event-stream').end('data: ba\n\n'))
    })
    return { site, a, b, warn }
  }

  it('wait no longer than they may, tell which two, and block nobody after that', async () => {
    const { site, a, b, warn } = await open()
    const answers = await Promise.all([site.get('/ab'), site.get('/ba')])
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(503)
    const told = warn.mock.calls.map(([message, { code }]) => [code, /queue "\w".*queue "\w"/.exec(message)![0]])
    expect(told.length).toBe(statuses.filter((status) => status === 503).length)
    expect([
      ['FQ_HELD_WHILE_WAITING', 'queue "b" while it held a place in queue "a"'],
      ['FQ_HELD_WHILE_WAITING', 'queue "a" while it held a place in queue "b"'],
    ]).toEqual(expect.arrayContaining(told))
    await runningIs(a.queue, 0)
    await runningIs(b.queue, 0)
    expect((await site.get('/ab')).body).toBe('data: ab\n\n')
    expect((await site.get('/ba')).body).toBe('data: ba\n\n')
  })

  it('let a client be told of both waits in one stream', async () => {
    const options = { concurrency: 1, statusDelayMs: 0 }
    const [a, b] = [closing(fairQueue(options)), closing(fairQueue(options))]
    const site = await openSite(framework, (app) => {
      app.get('/', a, b, (_req, res) => void res.type('text/event-stream').end('data: done\n\n'))
    })
    const [inA, inB] = [await a.queue.acquire(), await b.queue.acquire()]
    const client = (await site.connect()).request('GET', '/', asksForEvents)
    await client.until('"state":"waiting"')
    await inA.release()
    await client.until('"state":"admitted"')
    await eventually(() => client.received.match(/"state":"waiting"/g)).toHaveLength(2)
    await inB.release()
    const { status, body } = await client.response()
    expect([status, body.match(/"state":"\w+"|data: done/g)]).toEqual([
      200,
      ['"state":"waiting"', '"state":"admitted"', '"state":"waiting"', '"state":"admitted"', 'data: done'],
    ])
    client.leave()
  })
})
