import { describe, expect, it } from 'vitest'
import { fairQueue } from '@fairqueue/express'
import { asksForEvents, closing, expressVersions, openSite, runningIs, waitingIs } from './site.js'

describe.each(expressVersions)('Switching a queue off and on while a server runs on $version', ({ framework }) => {
  it('lets everybody pass at once, who waits too, and then holds the line again', async () => {
    const middleware = closing(fairQueue({ concurrency: 1, statusDelayMs: 0 }))
    const { queue } = middleware
    const site = await openSite(framework, (app) => {
      app.get('/', middleware, (req, res) => {
        res.type('text/event-stream').end(`data: ${req.fairQueue.lease === null ? 'passed' : 'counted'}\n\n`)
      })
    })
    const holder = await queue.acquire()
    const silent = site.get('/')
    await waitingIs(queue, 1)
    const told = (await site.connect()).request('GET', '/', asksForEvents)
    await told.until('"position":2')

    await queue.configure({ enabled: false })
    expect((await silent).body).toBe('data: passed\n\n')
    expect((await told.response()).chunks.slice(-2)).toEqual([
      expect.stringContaining('"state":"admitted","position":0'),
      'data: passed\n\n',
    ])
    told.leave()
    expect((await site.get('/')).body).toBe('data: passed\n\n')
    expect(await queue.status()).toMatchObject({ enabled: false, running: 1, waiting: 0 })

    await queue.configure({ enabled: true })
    const late = site.get('/')
    await waitingIs(queue, 1)
    await holder.release()
    expect((await late).body).toBe('data: counted\n\n')
    await runningIs(queue, 0)
  })
})
