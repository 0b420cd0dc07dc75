import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** A response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  readonly statusText: string
  /** In their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** All values of a header, joined by `, `; undefined if it is not there. */
  header(this: void, name: string): string | undefined
  /** The body without its framing: into which chunks Node puts what is written is its own affair, and differs between its versions. */
  readonly body: string
}

/** An HTTP/1.1 client that hides nothing: it sends and shows bytes, and leaves when and how the test wants. */
export class RawClient {
  readonly socket: Socket
  /** Resolves when the connection is over, in whatever way. */
  readonly closed: Promise<void>
  #chunks: Buffer[] = []
  #ended = false
  #wake: (() => void)[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wakeAll()
    })
    // How a connection ends is a finding, not a failure of the client.
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true
        this.#wakeAll()
        resolve()
      })
    })
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  /** What has come and has not been taken by `response()`. */
  get received(): string {
    return this.#bytes.toString('utf8')
  }

  get #bytes(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  /** What has come of the next response if it is chunked: its body in whole chunks, and whether that is all of it. */
  get unfinished(): { readonly body: string; readonly complete: boolean } {
    const text = this.#bytes.toString('latin1')
    const { body, end } = readChunks(text, text.indexOf('\r\n\r\n') + 4)
    return { body: Buffer.from(body, 'latin1').toString('utf8'), complete: end !== undefined }
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes)
    return this
  }

  /** Sends a request's head, and its body if there is one (with its length). */
  request(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string): this {
    const all = {
      Host: '127.0.0.1',
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return this.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
  }

  /** Waits until what has come holds the text. @throws Error if the connection ends without it */
  async until(text: string): Promise<string> {
    await this.#until(() => this.received.includes(text), text)
    return this.received
  }

  /** Waits for the next complete response and takes it. `method`: that of its request. @throws Error if the connection ends before */
  async response(method = 'GET'): Promise<RawResponse> {
    await this.#until(() => this.#parse(method) !== undefined, 'a complete response')
    const { response, rest } = this.#parse(method)!
    this.#chunks = [rest]
    return response
  }

  /** Leaves with a FIN. */
  leave(): void {
    this.socket.destroy()
  }

  /** Leaves with a RST. */
  reset(): void {
    this.socket.resetAndDestroy()
  }

  #wakeAll(): void {
    const wake = this.#wake
    this.#wake = []
    for (const resolve of wake) resolve()
  }

  async #until(met: () => boolean, wanted: string): Promise<void> {
    while (!met()) {
      if (this.#ended)
        throw new Error(
          `The connection ended without ${JSON.stringify(wanted)}; it brought ${JSON.stringify(this.received)}`,
        )
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  #parse(method: string): { response: RawResponse; rest: Buffer } | undefined {
    const text = this.#bytes.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) return undefined
    const [statusLine, ...lines] = text.slice(0, headEnd).split('\r\n')
    const [, status, statusText] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(statusLine!)!
    const headers = lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ])
    const header = (name: string): string | undefined => {
      const values = headers.filter(([given]) => given.toLowerCase() === name.toLowerCase()).map(([, value]) => value)
      return values.length === 0 ? undefined : values.join(', ')
    }
    const bodyStart = headEnd + 4
    const framed = this.#readBody(text, bodyStart, method === 'HEAD' || status === '204' || status === '304', header)
    if (framed === undefined) return undefined
    const body = Buffer.from(framed.body, 'latin1').toString('utf8')
    return {
      response: { status: Number(status), statusText: statusText!, headers, header, body },
      rest: this.#bytes.subarray(framed.end),
    }
  }

  #readBody(
    text: string,
    start: number,
    empty: boolean,
    header: (name: string) => string | undefined,
  ): { body: string; end: number } | undefined {
    if (empty) return { body: '', end: start }
    if (header('transfer-encoding') === 'chunked') {
      const { body, end } = readChunks(text, start)
      return end === undefined ? undefined : { body, end }
    }
    const length = header('content-length')
    if (length === undefined) return this.#ended ? { body: text.slice(start), end: text.length } : undefined
    const end = start + Number(length)
    return text.length >= end ? { body: text.slice(start, end), end } : undefined
  }
}

/** The whole chunks from `start` on, joined, and the end of the last one; undefined as long as that has not come. */
function readChunks(text: string, start: number): { body: string; end: number | undefined } {
  let body = ''
  for (let at = start; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return { body, end: undefined }
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error(`Broken chunk framing: ${JSON.stringify(text.slice(at, at + 80))}`)
    const end = lineEnd + 2 + size
    if (text.length < end + 2) return { body, end: undefined }
    if (text.slice(end, end + 2) !== '\r\n')
      throw new Error(`Broken chunk framing: ${JSON.stringify(text.slice(at, at + 80))}`)
    if (size === 0) return { body, end: end + 2 }
    body += text.slice(lineEnd + 2, end)
    at = end + 2
  }
}
