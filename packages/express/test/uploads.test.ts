import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { json, raw, type Request, type RequestHandler } from 'express'
import multer from 'multer'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Logger } from '@fairqueue/core'
import { continueOnRead, fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import type { Site } from '@fairqueue/core/testing/adapter'
import { closing, eventually, waitingIs } from '@fairqueue/test/kit/site'
import { expressVersions, openSite, showErrors } from './site.js'

const MEGABYTE = 1024 * 1024

/** More than what Node and the operating system keep of a body that nobody reads. */
const LARGE = randomBytes(20 * MEGABYTE)

/** What a server may have taken of a body while its request waits: the stream's buffer, and what came in one go with it. */
const MOST_TAKEN = MEGABYTE

const hash = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** What a multipart form around a file begins and ends with. */
const [FORM_START, FORM_END] = [
  '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n',
  '\r\n--edge--\r\n',
]

/** A way to read a body, what it is sent as, and what the reader makes of it. */
interface Reader {
  readonly type: string
  readonly body: Uint8Array
  /** Mounted between the queue and the handler. */
  readonly parsers: RequestHandler[]
  /** The hash of what arrived. */
  readonly arrived: (req: Request) => string | Promise<string>
  readonly expected: string
}

const asJson = JSON.stringify({ text: LARGE.toString('base64', 0, 4 * MEGABYTE) })

const readers: readonly (readonly [string, () => Reader])[] = [
  [
    'express.json',
    () => ({
      type: 'application/json',
      body: Buffer.from(asJson),
      parsers: [json({ limit: '50mb' })],
      arrived: (req) => hash(JSON.stringify(req.body)),
      expected: hash(asJson),
    }),
  ],
  [
    'express.raw',
    () => ({
      type: 'application/octet-stream',
      body: LARGE,
      parsers: [raw({ limit: '50mb' })],
      arrived: (req) => hash(req.body as Buffer),
      expected: hash(LARGE),
    }),
  ],
  [
    'multer',
    () => ({
      type: 'multipart/form-data; boundary=edge',
      body: Buffer.concat([Buffer.from(FORM_START), LARGE, Buffer.from(FORM_END)]),
      parsers: [multer({ storage: multer.memoryStorage() }).single('file')],
      arrived: (req) => hash(req.file!.buffer),
      expected: hash(LARGE),
    }),
  ],
  [
    'a pipe',
    () => ({
      type: 'application/octet-stream',
      body: LARGE,
      parsers: [],
      arrived: async (req) => {
        const sink = createHash('sha256')
        req.pipe(sink)
        await once(sink, 'finish')
        return sink.digest('hex')
      },
      expected: hash(LARGE),
    }),
  ],
  [
    'a proxy',
    () => ({
      type: 'application/octet-stream',
      body: LARGE,
      parsers: [],
      arrived: async (req) => {
        const port = await openHasher()
        const forwarded = req.pipe(request({ port, method: 'POST', headers: req.headers }))
        const [response] = (await once(forwarded, 'response')) as [IncomingMessage]
        return text(response)
      },
      expected: hash(LARGE),
    }),
  ],
]

/** A server behind the proxy: it answers with the hash of what it got. */
async function openHasher(): Promise<number> {
  const server = createServer((req, res) => {
    const sink = createHash('sha256')
    req.pipe(sink, { end: false })
    req.on('end', () => res.end(sink.digest('hex')))
  }).listen(0)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Sends a body as Node's client does, which is held back when the server does not read. */
function upload(port: number, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<IncomingMessage> {
  const sending = request({ port, method: 'POST', path: '/', headers })
  const response = once(sending, 'response').then(([message]) => message as IncomingMessage)
  // Where the server closes while it is still sent to, the answer is all that counts.
  sending.on('error', () => undefined)
  sending.end(body)
  return response
}

const framings = {
  'of known length': (body: Uint8Array) => ({ 'Content-Length': String(body.length) }),
  'in chunks': () => ({ 'Transfer-Encoding': 'chunked' }),
}

/** The server's side of connections. */
function socketsOf(site: Site): Socket[] {
  const sockets: Socket[] = []
  site.server.on('connection', (socket) => sockets.push(socket))
  return sockets
}

/** Resolves when a sender is held back: nothing more comes although not everything has. */
async function stalled(socket: Socket): Promise<number> {
  let before = -1
  await eventually(async () => {
    before = socket.bytesRead
    await new Promise((resolve) => setTimeout(resolve, 50))
    return before > 0 && socket.bytesRead === before
  }).toBe(true)
  return before
}

describe.each(expressVersions)('An upload on $version', ({ framework }) => {
  const open = (options: FairQueueMiddlewareOptions = {}) =>
    closing(fairQueue({ concurrency: 1, upload: true, ...options } as { concurrency: number }))

  describe.each(Object.entries(framings))('B40: %s', (_framing, framing) => {
    it.each(readers)(
      'that waits before %s arrives whole, and stays with its sender until its turn',
      async (_how, make) => {
        const { type, body, parsers, arrived, expected } = make()
        const middleware = open()
        const site = await openSite(framework, (app) => {
          const untouched: RequestHandler = (req, _res, next) => {
            expect([req.readableFlowing, req.listenerCount('data'), req.listenerCount('readable')]).toEqual([
              null,
              0,
              0,
            ])
            next()
          }
          app.post('/', middleware, untouched, ...parsers, (req, res, next) => {
            Promise.resolve(arrived(req)).then((found) => res.send(found), next)
          })
        })
        const sockets = socketsOf(site)
        const holder = await middleware.queue.acquire()
        const response = upload(site.port, { 'Content-Type': type, ...framing(body) }, body)
        await waitingIs(middleware.queue, 1)
        expect(await stalled(sockets[0]!)).toBeLessThan(MOST_TAKEN)
        await holder.release()
        expect(await text(await response)).toBe(expected)
      },
    )
  })

  it.each<[string, number, FairQueueMiddlewareOptions, string]>([
    ['at the door', 10 * MEGABYTE, { maxQueueSize: 0 }, 'FQ_QUEUE_FULL'],
    ['after its wait', 10 * MEGABYTE, { maxWaitMs: 100 }, 'FQ_WAIT_TIMEOUT'],
    ['after its wait, with more to come than is read of it', 60 * MEGABYTE, { maxWaitMs: 100 }, 'FQ_WAIT_TIMEOUT'],
  ])('that is refused %s reads why, with status 429, and its connection ends', async (_when, size, options, code) => {
    const middleware = open(options)
    const runs = vi.fn<() => void>()
    const site = await openSite(framework, (app) => void app.post('/', middleware, runs))
    const sockets = socketsOf(site)
    await middleware.queue.acquire()
    const response = await upload(site.port, { 'Content-Length': String(size) }, Buffer.alloc(size))
    expect([response.statusCode, response.headers.connection]).toEqual([429, 'close'])
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(JSON.parse(await text(response))).toMatchObject({ status: 429, code })
    await eventually(() => sockets[0]!.destroyed).toBe(true)
    expect(sockets[0]!.bytesRead).toBeLessThan(20 * MEGABYTE)
    expect(runs).not.toHaveBeenCalled()
  })

  it('that is refused can be read by fetch', async () => {
    const middleware = open({ maxWaitMs: 100 })
    const site = await openSite(framework, (app) => void app.post('/', middleware))
    await middleware.queue.acquire()
    const response = await fetch(`http://127.0.0.1:${site.port}/`, {
      method: 'POST',
      body: Buffer.alloc(10 * MEGABYTE),
    })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([429, 'FQ_WAIT_TIMEOUT'])
  })

  it.each<[FairQueueMiddlewareOptions['statusCode'], number]>([
    [503, 503],
    [{ FQ_QUEUE_FULL: 420 }, 420],
    [undefined, 429],
  ])('that is refused gets the status of statusCode: %o', async (statusCode, status) => {
    const middleware = open({ maxQueueSize: 0, statusCode })
    const site = await openSite(framework, (app) => void app.post('/', middleware))
    await middleware.queue.acquire()
    expect((await site.fetch('POST', '/', {}, 'x')).status).toBe(status)
  })

  it('B33: whose sender has gone unseen, behind a body that nobody reads, is out of the line when its time is up', async () => {
    const middleware = open({ maxWaitMs: 200 })
    const runs = vi.fn<() => void>()
    const site = await openSite(framework, (app) => void app.post('/', middleware, runs))
    const sockets = socketsOf(site)
    const holder = await middleware.queue.acquire()
    const client = await site.connect()
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE.length}\r\n\r\n`).send(LARGE)
    await stalled(sockets[0]!)
    client.reset()
    await waitingIs(middleware.queue, 0)
    await holder.release()
    await eventually(() => sockets[0]!.destroyed).toBe(true)
    expect(runs).not.toHaveBeenCalled()
  })

  describe('whose body something before the queue has begun to read', () => {
    const reading: readonly (readonly [string, RequestHandler])[] = [
      [
        'by resume()',
        (req, _res, next) => {
          req.resume()
          next()
        },
      ],
      [
        'by a listener for data',
        (req, _res, next) => {
          req.on('data', () => undefined)
          next()
        },
      ],
      ['by its first chunk', (req, _res, next) => void req.once('readable', () => req.read(1) !== null && next())],
    ]

    it.each(reading)('%s is an error, also while there is room', async (_how, read) => {
      const middleware = open()
      const site = await openSite(framework, (app) => {
        app.post('/', read, middleware, (_req, res) => void res.end('ran'))
        app.use(showErrors)
      })
      const { status, body } = await site.fetch('POST', '/', {}, 'some text')
      expect([status, body]).toEqual([500, expect.stringContaining('"upload"')])
      expect((await middleware.queue.status()).grants).toBe(0)
    })

    it('is no error once it was read to its end', async () => {
      const middleware = open()
      const site = await openSite(framework, (app) => {
        app.post('/', raw({ type: () => true }), middleware, (req, res) => void res.send(req.body))
      })
      expect((await site.fetch('POST', '/', {}, 'some text')).body).toBe('some text')
    })

    it('is told of once where the option is not set and a request waits', async () => {
      const warn = vi.fn<Logger['warn']>()
      const middleware = open({ upload: false, name: 'files', logger: { warn } })
      const site = await openSite(framework, (app) => {
        app.post('/', reading[0]![1], middleware, (_req, res) => void res.end('ran'))
      })
      const answers: Promise<unknown>[] = []
      const holder = await middleware.queue.acquire()
      for (let i = 1; i <= 2; i += 1) {
        const client = await site.connect()
        client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345')
        await waitingIs(middleware.queue, i)
        answers.push(client.send('67890').response('POST'))
      }
      await holder.release()
      await Promise.all(answers)
      expect(warn.mock.calls).toEqual([[expect.stringContaining('queue "files"'), { code: 'FQ_BODY_FLOWS' }]])
    })
  })

  describe('that asks first (Expect: 100-continue)', () => {
    const ask = async (site: Site) => {
      const client = await site.connect()
      return client.request('POST', '/', { 'Content-Length': '10', Expect: '100-continue' })
    }
    const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

    it('B40: is told to go on when its turn has come and its body is read, not before', async () => {
      const middleware = open()
      const site = await openSite(framework, (app) => {
        app.post('/', middleware, raw({ type: () => true }), (req, res) => void res.send(req.body))
      })
      continueOnRead(site.server)
      continueOnRead(site.server)
      const holder = await middleware.queue.acquire()
      const client = await ask(site)
      await waitingIs(middleware.queue, 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(client.received).toBe('')
      await holder.release()
      expect(await client.until('\r\n\r\n')).toBe(CONTINUE)
      expect(await client.send('0123456789').until('0123456789')).toMatch(
        /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/,
      )
      client.leave()
    })

    it('is told so by Node at once without continueOnRead', async () => {
      const middleware = open()
      const site = await openSite(framework, (app) => void app.post('/', middleware))
      await middleware.queue.acquire()
      expect(await (await ask(site)).until('\r\n\r\n')).toBe(CONTINUE)
    })

    it('is refused without being told to send, and without its body being waited for', async () => {
      const middleware = open({ maxWaitMs: 50 })
      const site = await openSite(framework, (app) => void app.post('/', middleware))
      continueOnRead(site.server)
      await middleware.queue.acquire()
      const client = await ask(site)
      expect((await client.response('POST')).status).toBe(429)
      client.leave()
    })

    it('leaves the line when its client goes', async () => {
      const middleware = open()
      const site = await openSite(framework, (app) => void app.post('/', middleware))
      continueOnRead(site.server)
      await middleware.queue.acquire()
      const client = await ask(site)
      await waitingIs(middleware.queue, 1)
      expect(client.received).toBe('')
      client.leave()
      await eventually(async () => (await middleware.queue.status()).waiting).toBe(0)
    })
  })
})
