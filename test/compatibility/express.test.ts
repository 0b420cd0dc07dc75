import { createServer, type RequestListener } from 'node:http'
import cors from 'cors'
import type { RequestHandler } from 'express'
import helmet from 'helmet'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { describe, expect, it } from 'vitest'
import { RawClient } from '@fairqueue/test/kit/rawHttp'
import { streams, textStreams } from './sseAnswers.js'
import { compare, expressTwins, finalEvent, listen } from './twins.js'

const events: RequestHandler = (_req, res) => {
  res.type('text/event-stream')
  res.write('data: a\n\n')
  setImmediate(() => res.end('data: b\n\n'))
}

describe('Cases 3 to 5: a library that writes streams, behind an early head on Express', () => {
  it.each(streams)('%s sends the same bytes', async (_name, answer) => {
    const twins = await expressTwins((app, path, gate) => app.get(path, gate, (req, res) => void answer(req, res)))
    const { bare, gated, answer: sent } = await compare(twins)
    expect(bare.body).toContain('lo"')
    expect(sent).toBe(bare.body)
    expect(gated.status).toBe(200)
  })

  it.each(textStreams)('%s becomes one event, for a text is no stream of events', async (_name, answer) => {
    const twins = await expressTwins((app, path, gate) => app.get(path, gate, (req, res) => void answer(req, res)))
    const { bare, answer: sent } = await compare(twins)
    expect(bare.body).toBe('Hello')
    expect(finalEvent(sent)).toMatchObject({ name: 'response', data: { status: 200, body: 'Hello' } })
  })
})

describe('Case 16: headers of helmet and cors on Express', () => {
  const layers = [helmet(), cors({ origin: 'https://page.example', credentials: true })]

  it('are in the early head when these stand in front of the queue', async () => {
    const twins = await expressTwins((app, path, gate) => app.get(path, ...layers, gate, events))
    const { bare, gated, answer } = await compare(twins, { Origin: 'https://page.example' })
    const names = ['content-security-policy', 'strict-transport-security', 'access-control-allow-origin', 'vary']
    expect(names.map((name) => gated.header(name))).toEqual(names.map((name) => bare.header(name)))
    expect(gated.header('access-control-allow-origin')).toBe('https://page.example')
    expect([answer, twins.warnings]).toEqual([bare.body, []])
  })

  it('are on a refusal too', async () => {
    const twins = await expressTwins((app, path, gate) => app.get(path, ...layers, gate, events))
    await twins.queue.acquire()
    await twins.queue.configure({ maxQueueSize: 0 })
    const refused = await fetch(`http://127.0.0.1:${twins.port}/gated`)
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([503, 'https://page.example'])
    expect(refused.headers.get('content-security-policy')).toContain("default-src 'self'")
  })

  it('are warned of as lost when these stand behind the queue, and the stream is whole', async () => {
    const twins = await expressTwins((app, path, gate) => app.get(path, gate, ...layers, events))
    const { bare, gated, answer } = await compare(twins)
    expect(answer).toBe(bare.body)
    expect(gated.header('access-control-allow-origin')).toBeUndefined()
    expect(twins.warnings).toEqual([expect.stringContaining('access-control-allow-origin')])
    expect(twins.warnings[0]).toContain('content-security-policy')
  })

  it('Case 28, B31: a preflight is answered while the place is taken', async () => {
    const twins = await expressTwins((app, path, gate) => app.use(path, gate, ...layers, events))
    await twins.queue.acquire()
    const client = await RawClient.connect(twins.port)
    const headers = { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' }
    const preflight = await client.request('OPTIONS', '/gated', headers).response()
    client.leave()
    expect([preflight.status, preflight.header('access-control-allow-origin')]).toEqual([204, 'https://page.example'])
  })
})

describe('Case 11: http-proxy-middleware behind an early head on Express', () => {
  const proxyTo = (target: string): ReturnType<typeof expressTwins> =>
    expressTwins((app, path, gate) => app.use(path, gate, createProxyMiddleware({ target })))
  const upstream = async (listener: RequestListener): Promise<string> =>
    `http://127.0.0.1:${await listen(createServer(listener))}`

  it('passes a stream of events on, byte for byte', async () => {
    const target = await upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'x-upstream': '1' })
      res.write('data: a\n\n')
      setImmediate(() => res.end('data: b\n\n'))
    })
    const twins = await proxyTo(target)
    const { bare, answer } = await compare(twins)
    expect(bare.body).toBe('data: a\n\ndata: b\n\n')
    expect(answer).toBe(bare.body)
    expect(twins.warnings).toEqual([expect.stringContaining('x-upstream')])
  })

  it('makes one event of a 429 in JSON', async () => {
    const target = await upstream((_req, res) => {
      res.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow down"}}')
    })
    const { bare, answer } = await compare(await proxyTo(target))
    expect(bare.status).toBe(429)
    expect(finalEvent(answer)).toMatchObject({ name: 'error', data: { status: 429, errorText: 'slow down' } })
  })

  it('makes one event of an upstream that is not there', async () => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    const { bare, answer } = await compare(await proxyTo(`http://127.0.0.1:${port}`))
    expect(bare.status).toBe(504)
    expect(finalEvent(answer)).toMatchObject({ name: 'error', data: { status: 504 } })
  })
})
