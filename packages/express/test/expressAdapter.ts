import { once } from 'node:events'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import compression from 'compression'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import { createFairQueue, fairQueue, type FairQueueMiddlewareOptions } from '@fairqueue/express'
import type { Adapter, Call, Handler, Init, Plan, Route } from '@fairqueue/core/testing/adapter'

const require = createRequire(import.meta.url)

export const express4 = require('express4') as typeof express

/** The adapter for Express in the adapter suite. `name` is that of the package that is loaded. */
export function expressAdapter(framework: typeof express, name: 'express' | 'express4'): Adapter {
  const { version } = require(`${name}/package.json`) as { version: string }
  return {
    name: name === 'express' ? 'Express 5' : 'Express 4',
    version,
    seesHandlerEnd: false,
    // It gives requests the prototypes of HTTP/1.
    servesHttp2: false,
    compresses: true,
    gate: (options, defaults) => {
      const make = defaults === undefined ? fairQueue : createFairQueue(defaults as never)
      return make(options as never)
    },
    refusalHandler: (handler) =>
      ((req, res, next, refusal) =>
        handler(callOf(req, res), refusal, next)) satisfies FairQueueMiddlewareOptions['handler'],
    open: async (plan) => {
      const app = build(framework, plan)
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return { server, listener: app }
    },
  }
}

function build(framework: typeof express, { layers = [], headers, showErrors, prefix, gate, routes }: Plan): Express {
  const app = framework()
  app.set('env', 'test')
  app.disable('x-powered-by')
  for (const layer of layers) app.use(layer as RequestHandler)
  if (headers !== undefined) {
    app.use((_req, res, next) => {
      res.set(headers)
      next()
    })
  }
  const router = framework.Router()
  if (gate !== undefined) router.use(gate as unknown as RequestHandler)
  for (const route of routes) mount(router, route)
  app.use(prefix ?? '/', router)
  if (showErrors) app.use(showError)
  return app
}

function mount(router: express.Router, { method = 'GET', path, gate, parsesBody, compressed, handler }: Route): void {
  const stack: RequestHandler[] = [
    ...(parsesBody ? [express.json()] : []),
    ...(compressed === 'outside' || compressed === 'on both sides' ? [compress()] : []),
    ...(gate === undefined ? [] : [gate as unknown as RequestHandler]),
    ...(compressed === 'inside' || compressed === 'on both sides' ? [compress()] : []),
    answering(handler),
  ]
  router[method.toLowerCase() as 'get' | 'post' | 'options' | 'all'](path, ...stack)
}

const compress = (): RequestHandler => compression({ threshold: 0, filter: () => true })

const showError: ErrorRequestHandler = (error: Error, _req, res, _next) => void res.status(500).send(error.message)

/** What a handler's promise rejects with goes on to the error handlers, in Express 4 as in 5. */
function answering(handler: Handler): RequestHandler {
  return (req, res, next) => {
    void (async () => {
      try {
        await handler(callOf(req, res))
      } catch (error) {
        next(error)
      }
    })()
  }
}

function callOf(req: Request, res: Response): Call {
  const begin = ({ status = 200, headers = {} }: Init = {}): Response => res.status(status).set(headers)
  return {
    request: req,
    req,
    res,
    place: req.fairQueue,
    raw: () => res,
    text: (body, init) => begin(init).send(body),
    json: (value, init) => begin(init).json(value),
    stream: (body, init) => pipeline(body, begin(init), () => undefined),
    body: () => readAll(req),
  }
}
