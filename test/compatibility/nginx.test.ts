import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fairQueue, type FairQueueMiddleware, type OwnQueueOptions } from '@fairqueue/express'
import { startNginx } from './nginx.js'
import { eventually } from './site.js'
import { gateOptions, listen } from './twins.js'

interface Site {
  readonly gate: FairQueueMiddleware
  readonly port: number
  /** How many requests have come to the handler. */
  handled(this: void): number
}

async function openSite(options: Partial<OwnQueueOptions> = {}): Promise<Site> {
  const gate = fairQueue({ ...gateOptions(), ...options })
  onTestFinished(() => gate.close({ graceMs: 0 }))
  let handled = 0
  const app = express().set('env', 'test')
  app.get('/chat', gate, (_req, res) => {
    handled += 1
    res.type('text/event-stream').write('data: a\n\n')
    setImmediate(() => res.end('data: b\n\n'))
  })
  return { gate, port: await listen(app.listen(0, '127.0.0.1')), handled: () => handled }
}

const waitingIs = async ({ gate }: Site, count: number): Promise<void> => {
  await eventually(async () => (await gate.queue.status()).waiting).toBe(count)
}
const asksForEvents = { accept: 'text/event-stream', 'accept-encoding': 'gzip' }

describe('Case 31: nginx in front of the server', () => {
  it('B36: with its defaults lets every event through when it is written, also where it compresses them', async () => {
    const site = await openSite()
    const get = await startNginx(site.port)
    const holder = await site.gate.queue.acquire()
    const client = get('/chat', asksForEvents)
    // Comes while the place is still taken: nothing is held back.
    await client.until('"state":"waiting"')
    await holder.release()
    const body = await client.body
    expect((await client.response).headers['content-encoding']).toBe('gzip')
    expect(body.slice(body.indexOf('"state":"admitted"'))).toMatch(/\n\ndata: a\n\ndata: b\n\n$/)
  })

  it('B36: waits longer than proxy_read_timeout, for heartbeats come', async () => {
    const site = await openSite({ heartbeatMs: 100 })
    const get = await startNginx(site.port, 'proxy_read_timeout 2s;')
    const holder = await site.gate.queue.acquire()
    const client = get('/chat', asksForEvents)
    // Three seconds of them.
    await client.until('\n:\n'.padEnd(2 + 30 * 2, ':\n'))
    await holder.release()
    expect(await client.body).toMatch(/\n\ndata: a\n\ndata: b\n\n$/)
  })

  it('answers 504 to who waits in silence for longer than that; the place is given up and the handler does not run', async () => {
    const site = await openSite({ sse: 'never' })
    const get = await startNginx(site.port, 'proxy_read_timeout 1s;')
    const holder = await site.gate.queue.acquire()
    const client = get('/chat')
    await waitingIs(site, 1)
    expect((await client.response).statusCode).toBe(504)
    await waitingIs(site, 0)
    await holder.release()
    expect(site.handled()).toBe(0)
  })

  it('B33: tells when a client leaves', async () => {
    const site = await openSite()
    const get = await startNginx(site.port)
    await site.gate.queue.acquire()
    const client = get('/chat', asksForEvents)
    await client.until('"state":"waiting"')
    client.request.destroy()
    await waitingIs(site, 0)
    expect(site.handled()).toBe(0)
  })

  it('hands a refusal on as it is', async () => {
    const site = await openSite({ maxQueueSize: 0 })
    const get = await startNginx(site.port)
    await site.gate.queue.acquire()
    const client = get('/chat', asksForEvents)
    const { statusCode, headers } = await client.response
    expect([statusCode, headers['content-type']]).toEqual([503, 'application/problem+json'])
    expect(headers['retry-after']).toMatch(/^\d+$/)
  })
})
