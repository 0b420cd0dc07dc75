import { connect, constants, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { fairQueue } from '@fairqueue/fastify'
import { eventually, runningIs, waitingIs } from './site.js'

/** A stream of HTTP/2, and what has come on it. */
interface Request {
  status: number | undefined
  body: string
  readonly ended: Promise<void>
  reset(): void
}

async function openHttp2(): Promise<{ queue: FairQueue; request: (path: string, headers?: object) => Request }> {
  const app = fastify({ http2: true })
  await app.register(fairQueue, { concurrency: 1, statusDelayMs: 0, closeGraceMs: 0 })
  app.get('/events', (_request, reply) =>
    reply.type('text/event-stream').send(Readable.from(['data: a\n\n', 'data: b\n\n'])),
  )
  app.get('/json', async () => ({ answer: 42 }))
  app.get('/raw', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: raw\n\n')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    session.destroy()
    await app.close()
  })
  const request = (path: string, headers: object = {}): Request => {
    const stream = session.request({ ':path': path, ...headers })
    const ended = new Promise<void>((resolve) => {
      stream.on('close', () => resolve())
    })
    const found: Request = { status: undefined, body: '', ended, reset: () => stream.close(constants.NGHTTP2_CANCEL) }
    stream.on('response', (head) => (found.status = head[':status']))
    stream.setEncoding('utf8').on('data', (text: string) => (found.body += text))
    // How a stream ends is a finding.
    stream.on('error', () => undefined)
    return found
  }
  return { queue: app.fairQueue().queue, request }
}

const asksForEvents = { accept: 'text/event-stream' }

describe('A queue on HTTP/2', () => {
  it.each([
    ['/events', 'data: a\n\ndata: b\n\n'],
    ['/raw', 'data: raw\n\n'],
  ])('tells of the wait, then lets %s answer, byte for byte', async (path, body) => {
    const { queue, request } = await openHttp2()
    const bare = request(path)
    await bare.ended
    expect([bare.status, bare.body]).toEqual([200, body])
    const holder = await queue.acquire()
    const told = request(path, asksForEvents)
    await eventually(() => told.body).toContain('"state":"waiting"')
    await holder.release()
    await told.ended
    expect(told.body.slice(told.body.indexOf('"state":"admitted"'))).toMatch(/^[^\n]*\n\n/)
    expect(told.body.endsWith(`\n\n${body}`)).toBe(true)
    await runningIs(queue, 0)
  })

  it('turns another answer into one last event', async () => {
    const { queue, request } = await openHttp2()
    const holder = await queue.acquire()
    const told = request('/json', asksForEvents)
    await eventually(() => told.body).toContain('"state":"waiting"')
    await holder.release()
    await told.ended
    expect(told.body).toMatch(/event: response\ndata: \{"status":200,.*"body":\{"answer":42\}\}\n\n$/)
  })

  it('refuses with a problem document', async () => {
    const { queue, request } = await openHttp2()
    await queue.close({ graceMs: 0 })
    const refused = request('/json')
    await refused.ended
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([503, { code: 'FQ_DRAINING' }])
  })

  it.each([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])('B33: takes a reset stream for gone while it waits %s', async (_how, headers) => {
    const { queue, request } = await openHttp2()
    const holder = await queue.acquire()
    const waiting = request('/json', headers)
    await waitingIs(queue, 1)
    waiting.reset()
    await waitingIs(queue, 0)
    await holder.release()
    await runningIs(queue, 0)
    expect((await queue.status()).grants).toBe(1)
  })
})
