import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, vi } from 'vitest'

/** One request as it came. */
export interface Received {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly res: ServerResponse
}

/** How long a test waits for what must come; much, because a machine may be busy. */
const PATIENCE_MS = 30_000

vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

/** Expects it to become true in time. */
export function eventually<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 2, timeout: PATIENCE_MS })
}

/** A server that knows nothing of queues and answers each request as the test says; the last of the answers goes on for all that follow. */
export class RawServer {
  readonly received: Received[] = []
  readonly url: string

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/`
  }

  static async started(...answers: ((request: Received) => unknown)[]): Promise<RawServer> {
    const server = createServer((req, res) => {
      // Scripts of every origin may ask.
      if (req.method === 'OPTIONS') {
        res.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }).end()
        return
      }
      void text(req).then((body) => {
        const { method = '', headers } = req
        const request = { method, headers, body, res }
        site.received.push(request)
        answers[Math.min(site.received.length, answers.length) - 1]!(request)
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const site = new RawServer((server.address() as AddressInfo).port)
    onTestFinished(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    return site
  }

  /** The request with this number, counted from 0, as soon as it has come. */
  async request(number: number): Promise<Received> {
    await eventually(() => this.received.length).toBeGreaterThan(number)
    return this.received[number]!
  }
}

/** Begins a stream of events. */
export function stream(res: ServerResponse, ...texts: string[]): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-early': 'yes' })
  res.flushHeaders()
  for (const written of texts) res.write(written)
}
