import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import express, { type RequestHandler } from 'express'
import { expect } from 'vitest'
import { MemoryStore } from '@fairqueue/core'
import { fairQueue, type FairQueueMiddleware, type OwnQueueOptions } from '@fairqueue/express'
import { FakeClock } from '@fairqueue/core/testing'
import { eventsOf } from './answers.js'
import { answerMcp } from './mcpServer.js'

const browserPackage = dirname(createRequire(import.meta.url).resolve('@microsoft/fetch-event-source/lib/esm/index.js'))

/** Expects something of a value that may still have to become so; patient, for machines that are busy. */
export function eventually<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 2, timeout: 15_000 })
}

/** A real server that answers "Hello" in every interface, behind a queue with one place and a clock that is moved by hand. */
export class Site {
  readonly url: string
  readonly gate: FairQueueMiddleware
  readonly clock: FakeClock
  /** How many requests came to the queue. */
  requests = 0
  /** What has been written to waiting clients. */
  written = ''
  readonly #close: () => Promise<void>

  private constructor(url: string, gate: FairQueueMiddleware, clock: FakeClock, close: () => Promise<void>) {
    this.url = url
    this.gate = gate
    this.clock = clock
    this.#close = close
  }

  static async open(options: Partial<OwnQueueOptions> = {}): Promise<Site> {
    const clock = new FakeClock()
    const gate = fairQueue({
      ...{
        name: 'chat',
        store: new MemoryStore(),
        concurrency: 1,
        clock,
        statusDelayMs: 0,
        statusIntervalMs: 1000,
        heartbeatMs: '15s',
        maxWaitMs: '1m',
      },
      ...{ retryAfter: { maxMs: 1000 }, logger: { warn() {} }, ...options },
    })
    const app = express().set('env', 'test')
    // With an icon of its own: a browser that asks for one would stand in the line with it.
    app.get('/', (_req, res) => void res.type('html').send('<!doctype html><link rel="icon" href="data:,">'))
    app.use('/fetch-event-source', express.static(browserPackage, { extensions: ['js'] }))
    app.use(express.json(), (...call) => record(...call), gate)
    app.use('/mcp', answerMcp)
    app.use(answer)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const site = new Site(url, gate, clock, async () => {
      await gate.close({ graceMs: 0 })
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    })
    const record: RequestHandler = (req, res, next) => {
      site.requests += 1
      const write = res.write.bind(res) as (...args: unknown[]) => boolean
      res.write = (...args: unknown[]) => {
        if (req.fairQueue === undefined) site.written += String(args[0])
        return write(...args)
      }
      next()
    }
    return site
  }

  close(): Promise<void> {
    return this.#close()
  }

  /** Waits until so many wait. */
  async untilWaiting(count: number): Promise<void> {
    await eventually(async () => (await this.gate.queue.status()).waiting).toBe(count)
  }
}

/** Streams the answer, one event a turn of the event loop, so that clients read it in pieces. */
const answer: RequestHandler = async (req, res) => {
  res.type('text/event-stream')
  for (const event of eventsOf(req.path)) {
    res.write(event)
    await new Promise((resolve) => setImmediate(resolve))
  }
  res.end()
}
