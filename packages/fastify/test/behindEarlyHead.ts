import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { FairQueue } from '@fairqueue/core'
import { fairQueue, type FairQueueRouteOptions } from '@fairqueue/fastify'
import type { RawClient, RawResponse } from '@fairqueue/test/kit/rawHttp'
import { afterWait } from '@fairqueue/core/testing/adapter'
import { asksForEvents, closing, openSite, type Site } from './site.js'

/** Declares a route with `config`, at `path`. */
export type Mount = (
  app: FastifyInstance,
  path: string,
  config: { fairQueue: FairQueueRouteOptions | false },
) => unknown

/** A site with the same route twice: at `/bare`, and at `/gated` behind a queue whose only place the test holds. */
export interface TwinSite extends Site {
  /** What was logged or warned of from level `warn` on. */
  readonly warnings: string[]
  /** Sends a request that gets the early head, then lets it in. */
  enter(method?: string, headers?: Readonly<Record<string, string>>): Promise<RawClient>
}

export async function openTwins(mount: Mount, options: FastifyServerOptions = {}): Promise<TwinSite> {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const stream = { write: (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg) }
  const queue = closing(new FairQueue({ concurrency: 1, statusIntervalMs: '1m' }))
  const site = await openSite(
    async (app) => {
      await app.register(fairQueue, { global: false, statusDelayMs: 0, logger })
      await mount(app, '/bare', { fairQueue: false })
      await mount(app, '/gated', { fairQueue: { queue } })
    },
    { logger: { level: 'warn', stream }, ...options },
  )
  const enter: TwinSite['enter'] = async (method = 'GET', headers = {}) => {
    const holder = await queue.acquire()
    const client = await site.connect()
    client.request(method, '/gated', { ...asksForEvents, ...headers })
    await client.until('"state":"waiting"')
    await holder.release()
    return client
  }
  return { ...site, warnings, enter }
}

/** What a client got that was told of its wait, and what the same handler sends without a queue. */
export interface Comparison {
  readonly gated: RawResponse
  readonly bare: RawResponse
  /** What is the handler's of the gated body. */
  readonly answer: { readonly body: string }
  /** What was logged for `/gated`, but not for `/bare`. */
  readonly warnings: readonly string[]
}

/** Runs a handler without a queue and behind an early head. */
export async function compare(mount: Mount, headers: Readonly<Record<string, string>> = {}): Promise<Comparison> {
  const twins = await openTwins(mount)
  const bare = await twins.get('/bare', { ...asksForEvents, ...headers })
  const usual = new Set(twins.warnings.splice(0))
  const client = await twins.enter('GET', headers)
  const gated = await client.response()
  client.leave()
  const warnings = twins.warnings.filter((warning) => !usual.has(warning))
  return { gated, bare, answer: { body: afterWait(gated.body) }, warnings }
}

/** The one event that an answer became. */
export function finalEvent(body: string): { readonly name: string; readonly data: Record<string, unknown> } {
  const [, name, data] = /^id: q:end\nevent: (\w+)\ndata: (.*)\n\n$/.exec(body) ?? []
  return { name: name!, data: JSON.parse(data!) as Record<string, unknown> }
}
