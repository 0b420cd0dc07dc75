import { once } from 'node:events'
import { request } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientAddress, fairQueue, type ClientAddressOptions } from '@fairqueue/express'
import { closing } from '@fairqueue/test/kit/site'
import { expressVersions, openSite, showErrors } from './site.js'

describe.each(expressVersions)('B26: clientAddress on $version', ({ framework }) => {
  const open = async (options: ClientAddressOptions, trustProxy?: unknown) => {
    const middleware = closing(fairQueue({ concurrency: 1, keyGenerator: clientAddress(options) }))
    const keys: (string | null)[] = []
    middleware.queue.on('granted', ({ key }) => keys.push(key))
    let app: ReturnType<typeof framework> | undefined
    const site = await openSite(framework, (opened) => {
      app = opened
      if (trustProxy !== undefined) app.set('trust proxy', trustProxy)
      app.get('/', middleware, (_req, res) => void res.end())
      app.use(showErrors)
    })
    return { site, keys, app: app! }
  }

  it.each<[string, ClientAddressOptions, unknown, string]>([
    ['the socket, whatever a client makes up', {}, undefined, '127.0.0.1'],
    ['what the trusted proxy has added', { trustProxy: ['127.0.0.0/8'] }, undefined, '8.8.8.8'],
    ["what Express takes for the client's address", { trustProxy: 'framework' }, 1, '8.8.8.8'],
    ['the socket where Express trusts nobody', { trustProxy: 'framework' }, undefined, '127.0.0.1'],
  ])('takes %s', async (_what, options, trustProxy, key) => {
    const { site, keys } = await open(options, trustProxy)
    await site.get('/', { 'X-Forwarded-For': '9.9.9.9, 8.8.8.8' })
    expect(keys).toEqual([key])
  })

  it('gives those who come by a Unix socket one key that says so', async () => {
    const { app, keys } = await open({})
    const directory = await mkdtemp(join(tmpdir(), 'fairqueue-'))
    const server = app.listen(join(directory, 'socket'))
    await once(server, 'listening')
    onTestFinished(async () => {
      server.close()
      await rm(directory, { recursive: true })
    })
    const [response] = await once(
      request({ socketPath: join(directory, 'socket'), headers: { 'X-Forwarded-For': '9.9.9.9' } }).end(),
      'response',
    )
    expect((response as { statusCode: number }).statusCode).toBe(200)
    expect(keys).toEqual(['unknown'])
  })
})
