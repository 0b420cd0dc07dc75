import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { VirtualHead } from '../../src/http/virtualHead.js'
import { serve, serveHttp2 } from './server.js'

const quiet = { committed: () => undefined, headersLost: () => undefined }

describe('VirtualHead', () => {
  it('sends its head at once, with what was set before, and its own texts after it', async () => {
    const server = await serve((req, res) => {
      res.setHeader('X-Before', '1')
      const head = new VirtualHead(req, res, { 'x-elsewhere': '2' }, quiet)
      head.writeOurs('event: a\ndata: 1\n\n')
      head.writeOurs(':\n')
      res.setHeader('Content-Type', 'text/event-stream')
      res.end('data: b\n\n')
    })
    const client = (await server.connect()).request('GET', '/')
    const { headers, body } = await client.response()
    expect(headers.slice(0, 5)).toEqual([
      ['X-Before', '1'],
      ['x-elsewhere', '2'],
      ['Content-Type', 'text/event-stream; charset=utf-8'],
      ['Cache-Control', 'no-cache, no-transform'],
      ['X-Accel-Buffering', 'no'],
    ])
    expect(body).toBe('event: a\ndata: 1\n\n:\ndata: b\n\n')
    client.leave()
  })

  it('shows the head as unsent to all but its own writes, and writes nothing of its own after the commit', async () => {
    const sent: boolean[] = []
    const server = await serve((req, res) => {
      const write = res.write.bind(res)
      res.write = ((...args: Parameters<typeof write>) => {
        sent.push(res.headersSent)
        return write(...args)
      }) as typeof write
      const head = new VirtualHead(req, res, {}, quiet)
      head.writeOurs('data: a\n\n')
      sent.push(res.headersSent)
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      sent.push(res.headersSent)
      head.writeOurs('data: too late\n\n')
      res.end('data: b\n\n')
    })
    const client = (await server.connect()).request('GET', '/')
    expect((await client.response()).body).toBe('data: a\n\ndata: b\n\n')
    expect(sent).toEqual([true, false, true])
    client.leave()
  })

  it('gives the response back its own methods when a stream passes', async () => {
    const own: unknown[] = []
    const methods = (res: ServerResponse): unknown[] => [
      ...['write', 'end', 'writeHead', 'setHeader', 'getHeaders', 'flushHeaders'].map(
        (name) => (res as unknown as Record<string, unknown>)[name],
      ),
      Object.getOwnPropertyNames(res).filter((name) => name === 'headersSent' || name === 'getHeaders'),
    ]
    const server = await serve((req, res) => {
      const end = res.end.bind(res)
      res.end = ((...args: []) => end(...args)) as typeof end
      own.push(methods(res))
      new VirtualHead(req, res, {}, quiet).writeOurs('data: a\n\n')
      res.setHeader('Content-Type', 'text/event-stream').writeHead(200)
      own.push(methods(res))
      res.end('data: b\n\n')
    })
    const client = (await server.connect()).request('GET', '/')
    await client.response()
    expect(own[1]).toEqual(own[0])
    client.leave()
  })

  it.each([
    [404, 404],
    [200, 404],
  ])("passes a stream with the framework's own default status %i, set before", async (status, before) => {
    const server = await serve((req, res) => {
      res.statusCode = before
      void new VirtualHead(req, res, {}, quiet)
      if (status !== before) res.statusCode = status
      res.setHeader('Content-Type', 'text/event-stream')
      res.end('data: a\n\n')
    })
    const client = (await server.connect()).request('GET', '/')
    expect((await client.response()).body).toBe('data: a\n\n')
    client.leave()
  })

  it('tells once that it is committed, and which headers were lost', async () => {
    const committed = vi.fn<() => void>()
    const headersLost = vi.fn<(names: readonly string[]) => void>()
    const server = await serve((req, res) => {
      res.setHeader('X-Same', '1')
      void new VirtualHead(req, res, {}, { committed, headersLost })
      res.setHeader('X-Same', '1')
      res.setHeader('X-Other', '1')
      res.setHeader('Cache-Control', 'no-cache')
      res.setHeader('Connection', 'keep-alive')
      expect(committed).not.toHaveBeenCalled()
      res.writeHead(200, { 'Content-Type': 'text/event-stream' })
      res.write('data: a\n\n')
      res.end()
    })
    const client = (await server.connect()).request('GET', '/')
    await client.response()
    expect(committed).toHaveBeenCalledOnce()
    expect(headersLost).toHaveBeenCalledExactlyOnceWith(['x-other'])
    client.leave()
  })

  it('asks for no compression from then on', async () => {
    let encoding: unknown
    const server = await serve((req, res) => {
      void new VirtualHead(req, res, {}, quiet)
      encoding = req.headers['accept-encoding']
      res.end()
    })
    const client = (await server.connect()).request('GET', '/', { 'Accept-Encoding': 'gzip' })
    await client.response()
    expect(encoding).toBe('identity')
    client.leave()
  })

  it('takes no more after a late answer has ended', async () => {
    const errors: unknown[] = []
    const server = await serve((req, res) => {
      void new VirtualHead(req, res, {}, quiet)
      res.on('error', (error) => errors.push((error as NodeJS.ErrnoException).code))
      res.statusCode = 500
      res.end('a')
      res.write('b')
      res.end('c')
    })
    const client = (await server.connect()).request('GET', '/')
    expect((await client.response()).body).toContain('"body":"a"')
    expect(errors).toEqual(['ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_WRITE_AFTER_END'])
    client.leave()
  })

  describe('on HTTP/2', () => {
    it('passes a stream, and sends no header that HTTP/2 forbids', async () => {
      const request = await serveHttp2((req, res) => {
        const head = new VirtualHead(req, res, {}, quiet)
        head.writeOurs('data: a\n\n')
        res.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'keep-alive' })
        expect(() => res.setHeader('a', 'b')).toThrow(expect.objectContaining({ code: 'ERR_HTTP2_HEADERS_SENT' }))
        res.write('data: b\n\n')
        res.end('data: c\n\n')
      })
      const got = request('/')
      await got.ended
      expect([got.status(), got.received()]).toEqual([200, 'data: a\n\ndata: b\n\ndata: c\n\n'])
    })

    it('turns any other answer into one event', async () => {
      const request = await serveHttp2((req, res) => {
        void new VirtualHead(req, res, {}, quiet)
        res.statusCode = 404
        res.setHeader('Content-Type', 'application/json')
        res.end('{"message":"no such thing"}')
      })
      const got = request('/')
      await got.ended
      expect(got.received()).toContain('event: error\ndata: {"type":"error","errorText":"no such thing","status":404')
    })
  })
})
