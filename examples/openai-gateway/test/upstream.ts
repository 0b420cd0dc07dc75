import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, vi } from 'vitest'

/** How long a test waits for what must come; much, because a machine may be busy. */
const PATIENCE_MS = 30_000

vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

/** Expects it to become true in time. */
export function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 20, timeout: PATIENCE_MS })
}

/** One request as the service got it; answered when and how the test wants. */
export class Asked {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly res: ServerResponse

  constructor(url: string, headers: IncomingHttpHeaders, body: string, res: ServerResponse) {
    this.url = url
    this.headers = headers
    this.body = body
    this.res = res
  }

  /** Answers as OpenAI does. */
  complete(content: string): void {
    const message = { role: 'assistant', content }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    this.#send(200, { 'openai-processing-ms': '7' }, { id: 'c', object: 'chat.completion', choices })
  }

  /** Streams a piece of the answer. */
  say(content: string): void {
    const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]
    if (!this.res.headersSent) this.res.writeHead(200, { 'content-type': 'text/event-stream' })
    this.res.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`)
  }

  finish(): void {
    this.res.end('data: [DONE]\n\n')
  }

  refuse(status: number, headers: Record<string, string>): void {
    this.#send(status, headers, { error: { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' } })
  }

  #send(status: number, headers: Record<string, string>, body: object): void {
    this.res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** The service behind the gateway. */
export class Upstream {
  readonly asked: Asked[] = []
  readonly #port: number

  private constructor(port: number) {
    this.#port = port
  }

  static async started(): Promise<Upstream> {
    const server = createServer((req, res) => {
      void text(req).then((body) => upstream.asked.push(new Asked(req.url!, req.headers, body, res)))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const upstream = new Upstream((server.address() as AddressInfo).port)
    onTestFinished(async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    })
    return upstream
  }

  get env(): Readonly<Record<string, string>> {
    return { OPENAI_BASE_URL: `http://127.0.0.1:${this.#port}/v1`, OPENAI_API_KEY: 'secret' }
  }

  /** The request with this number, counted from 0, as soon as it has come. */
  async request(number: number): Promise<Asked> {
    await eventually(() => this.asked.length).toBeGreaterThan(number)
    return this.asked[number]!
  }
}
