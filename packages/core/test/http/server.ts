import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type ClientHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { RawClient } from '@fairqueue/test/kit/rawHttp'

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

/** A plain server of Node's, gone when the test ends. */
export async function serve(listener: Listener): Promise<{ readonly port: number; connect(): Promise<RawClient> }> {
  const server = createServer((req, res) => void listener(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, connect: () => RawClient.connect(port) }
}

/** A stream of HTTP/2, and what has come on it. */
export interface Http2Request {
  readonly stream: ClientHttp2Stream
  readonly status: () => number | undefined
  readonly received: () => string
  readonly ended: Promise<void>
  reset(): void
}

/** The same for HTTP/2 in its compatibility API. */
export async function serveHttp2(listener: Listener): Promise<(path: string, headers?: object) => Http2Request> {
  const server = createHttp2Server(
    (req, res) => void listener(req as unknown as IncomingMessage, res as unknown as ServerResponse),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  return (path, headers = {}) => {
    const stream = session.request({ ':path': path, ...headers })
    let received = ''
    let status: number | undefined
    stream.on('response', (head) => (status = head[':status']))
    stream.setEncoding('utf8').on('data', (text: string) => (received += text))
    stream.on('error', () => undefined)
    const ended = new Promise<void>((resolve) => {
      stream.on('close', () => resolve())
    })
    return {
      stream,
      status: () => status,
      received: () => received,
      ended,
      reset: () => stream.close(constants.NGHTTP2_CANCEL),
    }
  }
}
