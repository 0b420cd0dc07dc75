import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createRequire } from 'node:module'
import { Router } from '@koa/router'
import type Koa from 'koa'
import type { Context, Middleware } from 'koa'
import compress from 'koa-compress'
import { createFairQueue, fairQueue, type FairQueueMiddleware, type FairQueueMiddlewareOptions } from '@fairqueue/koa'
import type { Adapter, Call, Handler, Init, Layer, Plan, Route } from '@fairqueue/core/testing/adapter'

const require = createRequire(import.meta.url)

export const koa2 = require('koa2') as typeof Koa

/** The adapter for Koa in the adapter suite. `name` is that of the package that is loaded. */
export function koaAdapter(framework: typeof Koa, name: 'koa' | 'koa2'): Adapter {
  const { version } = require(`${name}/package.json`) as { version: string }
  return {
    name: name === 'koa' ? 'Koa 3' : 'Koa 2',
    version,
    seesHandlerEnd: true,
    servesHttp2: true,
    compresses: true,
    gate: (options, defaults) => {
      const make = defaults === undefined ? fairQueue : createFairQueue(defaults as never)
      return make(options as never)
    },
    refusalHandler: (handler) =>
      ((ctx, next, refusal) => handler(callOf(ctx), refusal, next)) satisfies FairQueueMiddlewareOptions['handler'],
    open: async (plan) => {
      const app = build(framework, plan)
      const listener = app.callback()
      const make = plan.http2 ? (createHttp2Server as unknown as typeof createServer) : createServer
      const server = make((req, res) => void listener(req, res)).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return { server, listener: (req, res) => void listener(req, res) }
    },
  }
}

function build(framework: typeof Koa, { layers = [], headers, showErrors, prefix, gate, routes }: Plan): Koa {
  const app = new framework()
  app.silent = true
  if (showErrors) app.use(showError)
  for (const layer of layers) app.use(around(layer))
  if (headers !== undefined) {
    app.use((ctx, next) => {
      ctx.set(headers)
      return next()
    })
  }
  const router = new Router(prefix === undefined ? {} : { prefix })
  if (gate !== undefined) {
    if (prefix === undefined) app.use(gate as FairQueueMiddleware)
    else router.use(gate as FairQueueMiddleware)
  }
  for (const route of routes) mount(router, route)
  app.use(router.routes())
  return app
}

function mount(router: Router, { method = 'GET', path, gate, parsesBody, compressed, handler }: Route): void {
  const stack: Middleware[] = [
    ...(parsesBody ? [readsBody] : []),
    ...(compressed === 'outside' || compressed === 'on both sides' ? [compression()] : []),
    ...(gate === undefined ? [] : [gate as FairQueueMiddleware]),
    ...(compressed === 'inside' || compressed === 'on both sides' ? [compression()] : []),
    answering(handler),
  ]
  if (method === 'ALL') router.all(path, ...stack)
  else router.register(path, method === 'GET' ? ['GET', 'HEAD'] : [method], stack)
}

const compression = (): Middleware => compress({ threshold: 0, filter: () => true })

const showError: Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    ctx.status = 500
    ctx.body = (error as Error).message
  }
}

/** Waits, as Koa's own layers do, for all that the layer goes on to. */
function around(layer: Layer): Middleware {
  return (ctx, next) => layer(ctx.req, ctx.res, next)
}

const readsBody: Middleware = async (ctx, next) => {
  await readBody(ctx)
  await next()
}

async function readBody(ctx: Context): Promise<string> {
  let body = ''
  for await (const chunk of ctx.req.setEncoding('utf8')) body += chunk as string
  return body
}

function answering(handler: Handler): Middleware {
  return async (ctx) => {
    await handler(callOf(ctx))
  }
}

function callOf(ctx: Context): Call {
  const answer = (body: unknown, { status = 200, headers = {} }: Init = {}): void => {
    ctx.set(headers)
    ctx.status = status
    ctx.body = body
  }
  return {
    request: ctx,
    req: ctx.req,
    res: ctx.res,
    place: ctx.fairQueue,
    raw: () => {
      ctx.respond = false
      ctx.res.statusCode = 200
      return ctx.res
    },
    text: answer,
    json: answer,
    stream: answer,
    body: () => readBody(ctx),
  }
}
