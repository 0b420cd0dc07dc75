import { expect, it } from 'vitest'
import { FairQueue } from '@fairqueue/core'
import { fairQueue } from '@fairqueue/express'
import { closing, eventually, runningIs } from '@fairqueue/test/kit/site'
import { expressVersions, openSite } from './site.js'

it.each(expressVersions)(
  'A request that reaches one queue twice on $version frees its place when the client leaves, though the inner middleware knows the handler’s end',
  async ({ framework }) => {
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
    await runningIs(queue, 0)
    expect((await queue.status()).grants).toBe(1)
  },
)
