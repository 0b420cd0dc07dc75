import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'

/** A request on a stream of its own, and what has come on it so far. */
export interface Http2Request {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number }
  readonly body: string
  /** Waits until the body holds the text. @throws Error if the stream ends without it */
  until(text: string): Promise<void>
  /** Resolves when the stream is over, in whatever way. */
  readonly ended: Promise<void>
  /** Leaves, and keeps the connection. */
  reset(): void
}

/** An HTTP/2 client without TLS: one connection, as many streams as one likes. */
export class Http2Client {
  readonly #session: ClientHttp2Session

  constructor(port: number) {
    this.#session = connect(`http://127.0.0.1:${port}`)
  }

  request(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string): Http2Request {
    const stream = this.#session.request({ ':method': method, ':path': path, ...headers })
    let wake: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      stream.on('close', resolve)
    })
    const request = {
      headers: {} as IncomingHttpHeaders,
      body: '',
      ended,
      reset: () => stream.close(constants.NGHTTP2_CANCEL),
      until: async (text: string) => {
        while (!request.body.includes(text)) {
          if (stream.closed) throw new Error(`The stream ended without ${JSON.stringify(text)}: ${request.body}`)
          await Promise.race([ended, new Promise<void>((resolve) => (wake = resolve))])
        }
      },
    }
    stream.on('response', (head) => (request.headers = head))
    stream.setEncoding('utf8').on('data', (text: string) => {
      request.body += text
      wake()
    })
    // How a stream ends is a finding.
    stream.on('error', () => undefined)
    stream.end(body)
    return request
  }

  /** Leaves with all streams. */
  leave(): void {
    this.#session.destroy()
  }
}
