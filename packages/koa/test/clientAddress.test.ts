import { describe, expect, it } from 'vitest'
import { clientAddress, fairQueue, type ClientAddressOptions } from '@fairqueue/koa'
import { closing } from '@fairqueue/test/kit/site'
import { koaVersions, openSite } from './site.js'

const cases: readonly (readonly [what: string, options: ClientAddressOptions, proxy: boolean, key: string])[] = [
  ['the socket, whatever a client makes up', {}, true, '127.0.0.1'],
  ['what the trusted proxy has added', { trustProxy: ['127.0.0.0/8'] }, false, '8.8.8.8'],
  ["what Koa takes for the client's address", { trustProxy: 'framework' }, true, '9.9.9.9'],
  ['the socket where Koa trusts nobody', { trustProxy: 'framework' }, false, '127.0.0.1'],
]

describe.each(koaVersions)('B26: clientAddress on $version', ({ framework }) => {
  it.each(cases)('takes %s', async (_what, options, proxy, key) => {
    const middleware = closing(fairQueue({ concurrency: 1, keyGenerator: clientAddress(options) }))
    const keys: (string | null)[] = []
    middleware.queue.on('granted', (granted) => keys.push(granted.key))
    const site = await openSite(
      framework,
      (ctx, next) => {
        ctx.app.proxy = proxy
        return next()
      },
      middleware,
      (ctx) => {
        ctx.body = ''
      },
    )
    await site.get('/', { 'X-Forwarded-For': '9.9.9.9, 8.8.8.8' })
    expect(keys).toEqual([key])
  })
})
