import type express from 'express'
import { onTestFinished } from 'vitest'
import { fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import type { RawClient, RawResponse } from '@fairqueue/test/kit/rawHttp'
import { asksForEvents, openSite, type Site } from './site.js'

/** The event that ends the wait; what follows is the handler's. */
const ADMITTED = '"state":"admitted"'

/** What a client got that was told of its wait, and what the same handler sends without a queue. */
export interface Comparison {
  readonly gated: RawResponse
  readonly bare: RawResponse
  /** The body after the wait's events, and its chunks. */
  readonly answer: { readonly body: string; readonly chunks: readonly string[] }
  /** What was warned of. */
  readonly warnings: readonly string[]
}

/** A site with the same routes twice: under `/bare`, and under `/gated` behind a queue whose only place the test holds. */
export interface TwinSite extends Site {
  readonly warnings: string[]
  /** Sends a request that gets the early head, then lets it in. */
  enter(method?: string, headers?: Readonly<Record<string, string>>): Promise<RawClient>
}

type Framework = typeof express

export async function openTwins(
  framework: Framework,
  mount: (app: express.Express, gate: express.RequestHandler, path: string) => void,
  options: FairQueueMiddlewareOptions = {},
): Promise<TwinSite> {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const middleware = fairQueue({ concurrency: 1, statusDelayMs: 0, statusIntervalMs: '1m', logger, ...options } as {
    concurrency: number
  })
  onTestFinished(() => middleware.close({ graceMs: 0 }))
  const site = await openSite(framework, (app) => {
    // Node takes pairs in `writeHead` only where no header was set before.
    app.disable('x-powered-by')
    mount(app, (_req, _res, next) => next(), '/bare')
    mount(app, middleware, '/gated')
  })
  const enter: TwinSite['enter'] = async (method = 'GET', headers = {}) => {
    const holder = await middleware.queue.acquire()
    const client = await site.connect()
    client.request(method, '/gated', { ...asksForEvents, ...headers })
    await client.until('"state":"waiting"')
    await holder.release()
    return client
  }
  return { ...site, warnings, enter }
}

/** Runs a handler without a queue and behind an early head. */
export async function compare(
  framework: Framework,
  mount: (app: express.Express, gate: express.RequestHandler, path: string) => void,
  headers: Readonly<Record<string, string>> = {},
): Promise<Comparison> {
  const twins = await openTwins(framework, mount)
  const bare = await twins.get('/bare', { ...asksForEvents, ...headers })
  const client = await twins.enter('GET', headers)
  const gated = await client.response()
  client.leave()
  const admitted = gated.chunks.findIndex((chunk) => chunk.includes(ADMITTED))
  const chunks = gated.chunks.slice(admitted + 1)
  return { gated, bare, answer: { chunks, body: chunks.join('') }, warnings: twins.warnings }
}
