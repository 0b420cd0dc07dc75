import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Controller, Get, HttpException, Module, Sse, type INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { concat, of, throwError, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FairQueue } from '@fairqueue/core'
import { fairQueue } from '@fairqueue/express'
import { fairQueue as fastifyFairQueue } from '@fairqueue/fastify'
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

describe.each([
  ['Express', onExpress],
  ['Fastify', onFastify],
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

  it('@Get that returns JSON becomes one event', async () => {
    const { bare, answer } = await compare(await open(moduleOf(Get, () => ({ answer: 42 }))))
    expect(bare.body).toBe('{"answer":42}')
    expect(finalEvent(answer)).toMatchObject({ name: 'response', data: { status: 200, body: { answer: 42 } } })
  })
})
