import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'

import { continueOnRead } from '../../http.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import type { Line } from './line.js'
import { moment, openGate, openSite, waitingIs } from './site.js'
import { above, below, deepEqual, equal, eventually, includes } from '../assertions.js'
import { test } from '../suite.js'

/** More than Node and the operating system keep of a body that nobody reads. */
const BODY = randomBytes(6 * 1024 * 1024).toString('hex')

/** What a server may have taken of a body while its request waits. */
const MOST_TAKEN = 1024 * 1024

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

const framings: readonly (readonly [string, string, string])[] = [
  ['of known length', `Content-Length: ${BODY.length}`, BODY],
  ['in chunks', 'Transfer-Encoding: chunked', `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`],
]

export function uploadTests(adapter: Adapter): void {
  const openLine = async (handler: Handler, options: AdapterOptions = {}): Promise<Line> => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, upload: true, ...options })
    return { queue, site: await openSite(adapter, { routes: [{ method: 'POST', path: '/', gate, handler }] }) }
  }

  test.each(framings)(
    'B40: %s stays with its sender until its turn, and arrives whole',
    async (_how, header, bytes) => {
      const { site, queue } = await openLine(async ({ body, text }) => text(hash(await body())))
      const sockets: Socket[] = []
      site.server.on('connection', (socket) => sockets.push(socket))
      const holder = await queue.acquire()
      const client = await site.connect()
      client.send(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`).send(bytes)
      await waitingIs(queue, 1)
      let taken = -1
      await eventually(async () => {
        taken = sockets[0]!.bytesRead
        await moment(50)
        above(taken, 0)
        equal(sockets[0]!.bytesRead, taken)
      })
      below(taken, MOST_TAKEN)
      await holder.release()
      equal((await client.response('POST')).body, hash(BODY))
      client.leave()
    },
  )

  test('is refused with 429, and its sender reads why', async () => {
    const { site, queue } = await openLine(({ text }) => text('ran'), { maxWaitMs: 50 })
    const holder = await queue.acquire()
    const client = await site.connect()
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n`).send(BODY)
    const { status, header, body } = await client.response('POST')
    deepEqual(
      [status, header('connection'), (JSON.parse(body) as { code: string }).code],
      [429, 'close', 'FQ_WAIT_TIMEOUT'],
    )
    await client.closed
    await holder.release()
  })

  test('B40: that asks first (Expect: 100-continue) is told to go on when its turn has come', async () => {
    const { site, queue } = await openLine(async ({ body, text }) => text(await body()))
    continueOnRead(site.server)
    const holder = await queue.acquire()
    const client = (await site.connect()).request('POST', '/', { 'Content-Length': '3', Expect: '100-continue' })
    await waitingIs(queue, 1)
    equal(client.received, '')
    await holder.release()
    equal(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
    includes(await client.send('abc').until('\r\n\r\nabc'), 'HTTP/1.1 200 OK')
    client.leave()
  })
}
