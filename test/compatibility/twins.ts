import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express, type RequestHandler } from 'express'
import Fastify, { type FastifyContextConfig, type FastifyInstance } from 'fastify'
import Koa, { type Middleware } from 'koa'
import { onTestFinished } from 'vitest'
import { FairQueue, MemoryStore } from '@fairqueue/core'
import { fairQueue } from '@fairqueue/express'
import { fairQueue as fastifyFairQueue } from '@fairqueue/fastify'
import { fairQueue as koaFairQueue } from '@fairqueue/koa'
import { RawClient, type RawResponse } from '@fairqueue/test/kit/rawHttp'

type Headers = Readonly<Record<string, string>>

/** The same route twice: under `/bare`, and under `/gated` behind a queue with one place. */
export interface Twins {
  readonly port: number
  readonly queue: FairQueue
  /** What was warned of. */
  readonly warnings: readonly string[]
}

/** What a client got that was told of its wait, and what the same handler sends without a queue. */
export interface Comparison {
  readonly bare: RawResponse
  readonly gated: RawResponse
  /** What came after the wait's events. */
  readonly answer: string
}

/** Options of a gate whose events come at once. */
export function gateOptions(warnings: string[] = []): {
  name: string
  store: MemoryStore
  concurrency: number
  statusDelayMs: number
  logger: { warn(message: string): void }
} {
  const logger = { warn: (message: string) => void warnings.push(message) }
  return { name: 'chat', store: new MemoryStore(), concurrency: 1, statusDelayMs: 0, logger }
}

/** A port of its own, until the test ends. */
export async function listen(server: Server): Promise<number> {
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Twins on Express. */
export async function expressTwins(mount: (app: Express, path: string, gate: RequestHandler) => void): Promise<Twins> {
  const warnings: string[] = []
  const gate = fairQueue(gateOptions(warnings))
  onTestFinished(() => gate.close({ graceMs: 0 }))
  const app = express().set('env', 'test')
  mount(app, '/bare', (_req, _res, next) => next())
  mount(app, '/gated', gate)
  return { port: await listen(app.listen(0, '127.0.0.1')), queue: gate.queue, warnings }
}

/** Twins on Koa, behind layers, the outermost first. */
export async function koaTwins(answer: Middleware, ...layers: readonly Middleware[]): Promise<Twins> {
  const warnings: string[] = []
  const gate = koaFairQueue(gateOptions(warnings))
  onTestFinished(() => gate.close({ graceMs: 0 }))
  const app = new Koa()
  app.silent = true
  for (const layer of layers) app.use(layer)
  app.use((ctx, next) => (ctx.path === '/gated' ? gate(ctx, next) : next()))
  app.use(answer)
  return { port: await listen(app.listen(0, '127.0.0.1')), queue: gate.queue, warnings }
}

/** Twins on Fastify: `mount` declares a route under a path, with a config. */
export async function fastifyTwins(
  mount: (app: FastifyInstance, path: string, config: FastifyContextConfig) => unknown,
  app: FastifyInstance = Fastify(),
): Promise<Twins> {
  const warnings: string[] = []
  const { name, store, concurrency, ...options } = gateOptions(warnings)
  const queue = new FairQueue({ name, store, concurrency })
  await app.register(fastifyFairQueue, { global: false, ...options })
  await mount(app, '/bare', {})
  await mount(app, '/gated', { fairQueue: { queue } })
  onTestFinished(async () => {
    await queue.close({ graceMs: 0 })
    app.server.closeAllConnections()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, queue, warnings }
}

/** Asks both twins; the gated one is told of its wait first. */
export async function compare({ port, queue }: Twins, headers: Headers = {}): Promise<Comparison> {
  const asked = { Accept: 'text/event-stream', ...headers }
  const bareClient = await RawClient.connect(port)
  const bare = await bareClient.request('GET', '/bare', asked).response()
  bareClient.leave()
  const holder = await queue.acquire()
  const client = await RawClient.connect(port)
  await client.request('GET', '/gated', asked).until('"state":"waiting"')
  await holder.release()
  const gated = await client.response()
  client.leave()
  const admitted = gated.body.indexOf('"state":"admitted"')
  return { bare, gated, answer: gated.body.slice(gated.body.indexOf('\n\n', admitted) + 2) }
}

/** The one event that an answer became. */
export function finalEvent(body: string): { readonly name: string; readonly data: Record<string, unknown> } {
  const [, name, data] = /^id: q:end\nevent: (\w+)\ndata: (.*)\n\n$/.exec(body) ?? []
  if (data === undefined) throw new Error(`Not one last event: ${JSON.stringify(body)}`)
  return { name: name!, data: JSON.parse(data) as Record<string, unknown> }
}
