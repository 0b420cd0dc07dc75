import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Controller, Get, HttpException, Module, Sse, type CanActivate, type INestApplication } from '@nestjs/common'
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import type { Request, Response } from 'express'
import { concat, of, throwError, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FairQueue } from '@fairqueue/core'
import { fairQueue, type FairQueueMiddleware } from '@fairqueue/express'
import { fairQueue as fastifyFairQueue } from '@fairqueue/fastify'
import { RawClient } from '@fairqueue/test/kit/rawHttp'
import { eventually } from './site.js'
import { compare, finalEvent, gateOptions, type Twins } from './twins.js'

type Answer = () => unknown

/** An application with the same method twice. What decorators would say is called here, for they need another syntax. */
function moduleOf(decorator: typeof Sse | typeof Get, answer: Answer): new () => object {
  class Answers {
    readonly answer = answer
  }
  for (const path of ['bare', 'gated']) {
    // Each its own function: that is where Nest notes what a decorator says.
    const descriptor = { value: () => answer(), writable: true, configurable: true }
    Object.defineProperty(Answers.prototype, path, descriptor)
    decorator(path)(Answers.prototype, path, descriptor)
  }
  Controller()(Answers)
  class Application {
    readonly controllers = [Answers]
  }
  Module({ controllers: [Answers] })(Application)
  return Application
}

async function start(app: INestApplication, queue: FairQueue, warnings: readonly string[]): Promise<Twins> {
  await app.listen(0, '127.0.0.1')
  const server = app.getHttpServer() as Server
  onTestFinished(async () => {
    await queue.close({ graceMs: 0 })
    server.closeAllConnections()
    await app.close()
  })
  return { port: (server.address() as AddressInfo).port, queue, warnings }
}

async function onExpress(module: new () => object): Promise<Twins> {
  const warnings: string[] = []
  const gate = fairQueue(gateOptions(warnings))
  const app = await NestFactory.create(module, new ExpressAdapter(), { logger: false })
  app.use('/gated', gate)
  return start(app, gate.queue, warnings)
}

async function onFastify(module: new () => object): Promise<Twins> {
  const warnings: string[] = []
  const { name, store, concurrency, ...options } = gateOptions(warnings)
  const queue = new FairQueue({ name, store, concurrency })
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), { logger: false })
  await app.register(
    fastifyFairQueue as never,
    { queue, skip: ({ url }: { url: string }) => url !== '/gated', ...options } as never,
  )
  return start(app, queue, warnings)
}

/** A guard that has the middleware for Express decide: it needs no more than Node's own request and response. */
function guardOf(gate: FairQueueMiddleware): CanActivate {
  return {
    canActivate: (context) => {
      const http = context.switchToHttp()
      const request = http.getRequest<Request & { raw?: Request }>()
      const response = http.getResponse<Response & { raw?: Response }>()
      if (request.url !== '/gated') return true
      return new Promise((resolve, reject) => {
        gate(request.raw ?? request, response.raw ?? response, (error) => {
          if (error === undefined) resolve(true)
          else reject(error as Error)
        })
      })
    },
  }
}

const guarded =
  (makeAdapter: () => AbstractHttpAdapter) =>
  async (module: new () => object): Promise<Twins> => {
    const warnings: string[] = []
    const gate = fairQueue(gateOptions(warnings))
    const app = await NestFactory.create(module, makeAdapter(), { logger: false })
    app.useGlobalGuards(guardOf(gate))
    return start(app, gate.queue, warnings)
  }

describe.each([
  ['Express', onExpress],
  ['Fastify', onFastify],
  ['Express, in a guard', guarded(() => new ExpressAdapter())],
  ['Fastify, in a guard', guarded(() => new FastifyAdapter())],
])('Case 9: NestJS 11 on %s, behind an early head', (_platform, open) => {
  it('@Sse sends the same bytes', async () => {
    const messages = (): Observable<object> => of({ data: { text: 'Hel' } }, { type: 'end', data: { text: 'lo' } })
    const { bare, gated, answer } = await compare(await open(moduleOf(Sse, messages)))
    expect(bare.body).toContain('{"text":"lo"}')
    expect(answer).toBe(bare.body)
    expect(gated.status).toBe(200)
  })

  it('@Sse whose observable fails sends the same bytes', async () => {
    const messages = (): Observable<object> =>
      concat(
        of({ data: 'a' }),
        throwError(() => new Error('boom')),
      )
    const { bare, answer } = await compare(await open(moduleOf(Sse, messages)))
    expect(bare.body).toContain('event: error')
    expect(answer).toBe(bare.body)
  })

  it.each([
    ['@Sse', Sse],
    ['@Get', Get],
  ])('%s that throws becomes one event', async (_name, decorator) => {
    const { bare, answer } = await compare(
      await open(
        moduleOf(decorator, () => {
          throw new HttpException('slow down', 429)
        }),
      ),
    )
    expect(bare.status).toBe(429)
    expect(finalEvent(answer)).toMatchObject({ name: 'error', data: { status: 429, errorText: 'slow down' } })
  })

  it('B33: a client that leaves while it waits frees its place, and the method does not run', async () => {
    let runs = 0
    const { queue, port } = await open(moduleOf(Get, () => (runs += 1)))
    const holder = await queue.acquire()
    const client = await RawClient.connect(port)
    await client.request('GET', '/gated', { Accept: 'text/event-stream' }).until('"state":"waiting"')
    client.leave()
    await eventually(async () => (await queue.status()).waiting).toBe(0)
    await holder.release()
    expect(runs).toBe(0)
  })

  it('is refused with a problem document', async () => {
    const { queue, port } = await open(moduleOf(Get, () => 'ran'))
    await queue.acquire()
    await queue.configure({ maxQueueSize: 0 })
    const refused = await fetch(`http://127.0.0.1:${port}/gated`)
    expect([refused.status, refused.headers.get('content-type')]).toEqual([503, 'application/problem+json'])
    expect(await refused.json()).toMatchObject({ code: 'FQ_QUEUE_FULL' })
  })

  it('@Get that returns JSON becomes one event', async () => {
    const { bare, answer } = await compare(await open(moduleOf(Get, () => ({ answer: 42 }))))
    expect(bare.body).toBe('{"answer":42}')
    expect(finalEvent(answer)).toMatchObject({ name: 'response', data: { status: 200, body: { answer: 42 } } })
  })
})
