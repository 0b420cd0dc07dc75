import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { FairQueue, MemoryStore, type Store } from '@fairqueue/core'
import { fairQueue, type FairQueuePluginOptions } from '@fairqueue/fastify'
import { asksForEvents, closing, eventually, openSite, runningIs, waitingIs, type Site } from './site.js'

/** A route at `/` whose requests run until the test ends them; the server cuts no connection. */
async function openSlow(
  options: FairQueuePluginOptions,
  more: (app: FastifyInstance) => unknown = () => undefined,
): Promise<Site & { queue: FairQueue; finish: (() => void)[] }> {
  const finish: (() => void)[] = []
  let queue: FairQueue | undefined
  const site = await openSite(
    async (app) => {
      await app.register(fairQueue, options)
      queue = app.fairQueue().queue
      app.get('/', () => new Promise((resolve) => finish.push(() => resolve('done'))))
      await more(app)
    },
    { forceCloseConnections: 'idle' },
  )
  return { ...site, queue: queue!, finish }
}

describe('A server that closes', () => {
  it('Case 29, B38: answers those who wait at once, lets those who run finish, and then is closed', async () => {
    const order: string[] = []
    const site = await openSlow({ concurrency: 1 }, (app) => {
      app.addHook('onClose', async () => void order.push('user'))
    })
    const { app, queue, finish } = site
    const running = site.get('/')
    await runningIs(queue, 1)
    const silent = site.get('/')
    const told = (await site.connect()).request('GET', '/', asksForEvents)
    await waitingIs(queue, 2)
    const closed = app.close().then(() => order.push('closed'))
    expect(JSON.parse((await silent).body)).toMatchObject({ status: 503, code: 'FQ_DRAINING' })
    expect((await silent).header('connection')).toBe('close')
    const event = await told.response()
    expect(event.body).toContain('FQ_DRAINING')
    expect(order).toEqual([])
    finish[0]!()
    expect((await running).body).toBe('done')
    await closed
    expect(order).toEqual(['user', 'closed'])
    expect((await queue.status()).running).toBe(0)
    expect(queue.closing).toBe(true)
  })

  it.each([true, 'idle'] as const)(
    'ends with the last who runs, whose connections are then closed: forceCloseConnections %s',
    async (force) => {
      const finish: (() => void)[] = []
      const queues: FairQueue[] = []
      const site = await openSite(
        async (app) => {
          for (const prefix of ['/a', '/b']) {
            await app.register(
              async (child) => {
                await child.register(fairQueue, { concurrency: 1 })
                queues.push(child.fairQueue().queue)
                child.get('/', () => new Promise((resolve) => finish.push(() => resolve('done'))))
              },
              { prefix },
            )
          }
        },
        { forceCloseConnections: force },
      )
      const [runs, alsoRuns, waits] = await Promise.all([site.connect(), site.connect(), site.connect()])
      runs.request('GET', '/a')
      alsoRuns.request('GET', '/b')
      await eventually(() => finish.length).toBe(2)
      waits.request('GET', '/b')
      await waitingIs(queues[1]!, 1)
      const closed = site.app.close()
      // Also in the context whose turn to close has not come yet.
      expect((await waits.response()).status).toBe(503)
      for (const end of finish) end()
      // Both keep their connections alive.
      expect([(await runs.response()).body, (await alsoRuns.response()).body]).toEqual(['done', 'done'])
      await Promise.all([closed, runs.closed, alsoRuns.closed])
    },
  )

  it('B38: gives the line up in its store before hooks that close the store run', async () => {
    const memory = new MemoryStore()
    const calls: string[] = []
    const store: Store = {
      kind: 'memory',
      join: (options) => {
        const instance = memory.join(options)
        return {
          id: instance.id,
          enter: (place) => instance.enter(place),
          giveUp: (place) => {
            calls.push('given up')
            return instance.giveUp(place)
          },
          resume: (name, place, claims) => instance.resume(name, place, claims),
          nameOf: (place) => instance.nameOf(place),
          putAside: (place) => instance.putAside(place),
          keep: (place, claimMs) => instance.keep(place, claimMs),
          status: (sample) => instance.status(sample),
          configure: (change) => instance.configure(change),
          leave: (ms) => {
            calls.push('left')
            return instance.leave(ms)
          },
        }
      },
      close: () => memory.close(),
    }
    const site = await openSite(async (app) => {
      app.addHook('onClose', async () => void calls.push('store closed'))
      await app.register(fairQueue, { name: 'chat', store, concurrency: 1 })
      app.get('/', () => 'done')
    })
    await site.get('/')
    await site.app.close()
    expect(calls).toEqual(['given up', 'left', 'store closed'])
  })

  it('waits for those who run for closeGraceMs, then takes their leases away', async () => {
    const site = await openSlow({ concurrency: 1, closeGraceMs: 50 })
    const { app, queue, finish } = site
    const reasons: unknown[] = []
    queue.on('leaseLost', ({ error }) => reasons.push(error.lostBy))
    const running = site.get('/')
    await runningIs(queue, 1)
    const lost = new Promise<void>((resolve) => queue.on('leaseLost', () => resolve()))
    const closed = app.close()
    await lost
    expect(reasons).toEqual(['closed'])
    finish[0]!()
    expect((await running).body).toBe('done')
    await closed
  })

  it('closes what routes and hooks have opened, and leaves a queue open that it was given', async () => {
    const given = closing(new FairQueue({ concurrency: 1 }))
    const made: FairQueue[] = []
    const site = await openSite(async (app) => {
      await app.register(fairQueue, { global: false })
      made.push(app.fairQueue({ concurrency: 1 }).queue)
      app.get('/a', { config: { fairQueue: { queue: given } } }, () => 'a')
      app.get('/b', { config: { fairQueue: { queue: (request) => pick(request.fairQueue) } } }, () => 'b')
      await app.register(async (child) => {
        await child.register(fairQueue, { concurrency: 1 })
        made.push(child.fairQueue().queue)
      })
    })
    const pick = (_place: unknown): FairQueue => given
    await site.app.close()
    expect(made.map((queue) => queue.closing)).toEqual([true, true])
    expect(given.closing).toBe(false)
  })
})
