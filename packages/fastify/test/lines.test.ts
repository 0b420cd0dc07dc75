import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { FairQueue, MemoryStore } from '@fairqueue/core'
import { createFairQueue, fairQueue, type FairQueuePluginOptions, type FairQueueRouteOptions } from '@fairqueue/fastify'
import { closing, eventually, openSite, waitingIs, type Site } from './site.js'

/** Requests that run until the test ends them, by their path. */
type Running = Map<string, () => void>

/** A site whose requests are slow; `arrived` counts them. */
type SlowSite = Site & { readonly running: Running; readonly arrived: () => number }

/** Declares a route whose requests go on until the test ends them. */
type Slow = (app: FastifyInstance, url: string, asked?: FairQueueRouteOptions | false, more?: object) => void

async function openLines(mount: (app: FastifyInstance, slow: Slow) => unknown): Promise<SlowSite> {
  const running: Running = new Map()
  const slow: Slow = (app, url, asked, more = {}) => {
    const config = asked === undefined ? {} : { fairQueue: asked }
    const options: RouteShorthandOptions = { config, ...more }
    app.get(url, options, ({ method, url: path }) => {
      return new Promise((resolve) => running.set(`${method} ${path}`, () => resolve('done')))
    })
  }
  let arrived = 0
  const site = await openSite((app) => {
    app.addHook('onRequest', (_request, _reply, done) => {
      arrived += 1
      done()
    })
    return mount(app, slow)
  })
  return { ...site, running, arrived: () => arrived }
}

/** Sends requests (`/path` or `METHOD /path`) one after another, tells which of them run together, then lets all end. */
async function together(site: SlowSite, ...requests: string[]): Promise<string[]> {
  const { running } = site
  const before = site.arrived()
  const answers = []
  for (const request of requests) {
    const [method, path] = request.startsWith('/') ? ['GET', request] : (request.split(' ') as [string, string])
    answers.push(site.fetch(method, path))
    await eventually(site.arrived).toBe(before + answers.length)
    // What has arrived runs within the tick, or stands in a line.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const found = requests.filter((request) => running.has(request.startsWith('/') ? `GET ${request}` : request))
  for (let left = requests.length; left > 0; left -= 1) {
    await eventually(() => running.size).toBeGreaterThan(0)
    const [path, end] = [...running][0]!
    running.delete(path)
    end()
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(requests.map(() => 200))
  return found
}

describe('The plugin', () => {
  it('puts all routes of its context in one line', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { concurrency: 1 })
      slow(app, '/a')
      slow(app, '/b')
    })
    expect(await together(site, '/a', '/b')).toEqual(['/a'])
  })

  it('lets a route with false go, and gives one with options a line of its own', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { concurrency: 1 })
      slow(app, '/common')
      slow(app, '/free', false)
      slow(app, '/own', { concurrency: 1 })
    })
    expect(await together(site, '/common', '/free', '/free?2', '/own', '/own?2')).toEqual([
      '/common',
      '/free',
      '/free?2',
      '/own',
    ])
  })

  it('with global: false queues only routes that ask, each on its own', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { global: false, concurrency: 1 })
      const same = {}
      slow(app, '/free')
      slow(app, '/a', same)
      slow(app, '/b', same)
      slow(app, '/c', { concurrency: 2 })
    })
    expect(await together(site, '/free', '/free?2', '/a', '/b', '/a?2', '/c', '/c?2', '/c?3')).toEqual([
      '/free',
      '/free?2',
      '/a',
      '/b',
      '/c',
      '/c?2',
    ])
  })

  it('takes the same name for the same line, whether its options are said again or left out', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { global: false, concurrency: 5 })
      slow(app, '/a', { name: 'shared', concurrency: 1 })
      slow(app, '/b', { name: 'shared', concurrency: 1 })
      slow(app, '/c', { name: 'shared' })
    })
    expect(await together(site, '/b', '/a', '/c')).toEqual(['/b'])
  })

  it('takes its own name for its own line, and does not hand it down to routes that want one of theirs', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { name: 'all', concurrency: 1 })
      slow(app, '/common')
      slow(app, '/named', { name: 'all' })
      slow(app, '/own', { maxWaitMs: '10s' })
    })
    expect(await together(site, '/common', '/named', '/own')).toEqual(['/common', '/own'])
  })

  it('takes one name for one line over all its registrations', async () => {
    const site = await openLines(async (app, slow) => {
      const plugin = createFairQueue({ global: false, store: new MemoryStore(), name: 'ignored', concurrency: 1 })
      for (const prefix of ['/a', '/b']) {
        await app.register(
          async (child) => {
            await child.register(plugin)
            slow(child, '/', { name: 'shared' })
          },
          { prefix },
        )
      }
    })
    expect(await together(site, '/a', '/b')).toEqual(['/a'])
  })

  it('refuses to start when a name comes with other options than before', async () => {
    const open = openSite(async (app) => {
      await app.register(fairQueue, { global: false })
      app.get('/a', { config: { fairQueue: { name: 'shared', concurrency: 1 } } }, () => 'a')
      app.get('/b', { config: { fairQueue: { name: 'shared', concurrency: 2 } } }, () => 'b')
    })
    await expect(open).rejects.toThrow(/"concurrency" of queue "shared" was decided where that name was used first/)
  })

  it('names the line of a route after the route where a store is shared', async () => {
    const store = new MemoryStore()
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { global: false, store, concurrency: 1 })
      slow(app, '/a', {})
      slow(app, '/a', {}, { constraints: { version: '2.0.0' } })
    })
    const lines = ['GET /a', 'GET /a version=2.0.0'].map((name) =>
      closing(new FairQueue({ name, store, concurrency: 1 })),
    )
    for (const [index, headers] of [{}, { 'Accept-Version': '2.x' }].entries()) {
      const holder = await lines[index]!.acquire()
      const answer = site.get('/a', headers)
      await waitingIs(lines[index]!, 1)
      await holder.release()
      await eventually(() => site.running.size).toBe(1)
      for (const end of site.running.values()) end()
      site.running.clear()
      expect((await answer).body).toBe('done')
    }
  })

  it('makes HEAD wait in the line of its GET', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { global: false, concurrency: 1 })
      const limit = { concurrency: 1 }
      slow(app, '/a', limit)
      slow(app, '/b', limit)
      await app.register(async (child) => slow(child, '/', limit), { prefix: '/c' })
    })
    expect(await together(site, '/a', 'HEAD /a', 'HEAD /b')).toEqual(['/a', 'HEAD /b'])
    expect(await together(site, '/c', 'HEAD /c', '/c/', 'HEAD /c/')).toEqual(['/c'])
  })

  it('governs the context in which it is registered, and no other', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(
        async (child) => {
          await child.register(fairQueue, { concurrency: 1 })
          slow(child, '/in')
          await child.register(async (grandchild) => slow(grandchild, '/below'))
        },
        { prefix: '/child' },
      )
      await app.register(async (sibling) => slow(sibling, '/beside'))
      slow(app, '/above')
    })
    expect(await together(site, '/child/in', '/child/below', '/beside', '/beside?2', '/above', '/above?2')).toEqual([
      '/child/in',
      '/beside',
      '/beside?2',
      '/above',
      '/above?2',
    ])
  })

  it('lets the nearest of several registrations govern a route: each request is counted once', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { concurrency: 1 })
      slow(app, '/outer')
      await app.register(async (child) => {
        await child.register(fairQueue, { concurrency: 2 })
        slow(child, '/inner')
      })
      await app.register(async (child) => {
        await child.register(fairQueue, { global: false })
        slow(child, '/free')
      })
    })
    expect(await together(site, '/outer', '/outer?2', '/inner', '/inner?2', '/inner?3', '/free', '/free?2')).toEqual([
      '/outer',
      '/inner',
      '/inner?2',
      '/free',
      '/free?2',
    ])
  })

  it('stands back where a route brings a hook of app.fairQueue() along', async () => {
    const site = await openLines(async (app, slow) => {
      await app.register(fairQueue, { concurrency: 1 })
      slow(app, '/common')
      slow(app, '/own', undefined, { onRequest: app.fairQueue({ concurrency: 2 }) })
      slow(app, '/same', undefined, { preHandler: [app.fairQueue()] })
    })
    expect(await together(site, '/common', '/own', '/own?2', '/own?3', '/same')).toEqual(['/common', '/own', '/own?2'])
  })

  it('queues requests for what is not there where the 404 handler asks for it', async () => {
    const queue = closing(new FairQueue({ concurrency: 1, maxQueueSize: 0 }))
    const site = await openSite(async (app) => {
      await app.register(fairQueue, { global: false })
      app.setNotFoundHandler({ preHandler: app.fairQueue({ queue }) }, (_request, reply) =>
        reply.code(404).send('none'),
      )
    })
    expect((await site.get('/nowhere')).status).toBe(404)
    const holder = await queue.acquire()
    expect((await site.get('/nowhere')).status).toBe(503)
    await holder.release()
  })

  it.each<[string, FairQueuePluginOptions | object, RegExp]>([
    ['no limit', {}, /"concurrency" must be/],
    ['a store without a name', { concurrency: 1, store: new MemoryStore() }, /"name" is required with a "store"/],
    ['an unknown name', { concurrency: 1, max: 5 }, /Unknown option "max"/],
    ['global of another kind', { global: 'no' }, /"global" must be true or false, got "no"/],
    [
      'a hook that does not fit',
      { concurrency: 1, hook: 'onSend' },
      /"hook" must be one of 'onRequest', 'preParsing', 'preValidation', 'preHandler', got "onSend"/,
    ],
    [
      'a builder that is none',
      { concurrency: 1, errorResponseBuilder: {} },
      /"errorResponseBuilder" must be a function/,
    ],
    [
      'two ways to answer',
      { concurrency: 1, errorResponseBuilder: () => ({}), handler: () => 1 },
      /exclude each other/,
    ],
    ['a bad grace', { concurrency: 1, closeGraceMs: '5' }, /"closeGraceMs" must be a duration/],
    ['a handler that is none', { concurrency: 1, handler: 5 }, /"handler" must be a function/],
  ])('refuses %s, by name, before the server starts', async (_what, options, message) => {
    await expect(openSite((app) => app.register(fairQueue, options))).rejects.toThrow(message)
  })

  it.each<[string, unknown, RegExp]>([
    ['true', true, /"config.fairQueue" must be an object with options, or false, got true/],
    ['null', null, /"config.fairQueue" must be an object/],
    ['an unknown name', { concurrency: 1, limit: 3 }, /Unknown option "limit"/],
    ['a hook that does not fit', { concurrency: 1, hook: 'onError' }, /"hook" must be one of/],
    ['a limit that is none', { concurrency: -1 }, /"concurrency" must be/],
  ])('refuses a route whose config.fairQueue is or has %s', async (_what, asked, message) => {
    const open = openSite(async (app) => {
      await app.register(fairQueue, { global: false })
      app.get('/', { config: { fairQueue: asked as FairQueueRouteOptions } }, () => 'never')
    })
    await expect(open).rejects.toThrow(message)
  })
})
