import { once } from 'node:events'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import { fairQueue } from '@fairqueue/express'
import { closing, siteOf } from '@fairqueue/test/kit/site'
import { twinsOf, type Site, type Twins } from '@fairqueue/core/testing/adapter'
import { express4 } from './expressAdapter.js'

/** Both majors; every suite runs on each. */
export const expressVersions: readonly { readonly version: string; readonly framework: typeof express }[] = [
  { version: 'Express 5', framework: express },
  { version: 'Express 4', framework: express4 },
]

/** Answers with what an error says. */
export const showErrors: ErrorRequestHandler = (error: Error, _req, res, _next) =>
  void res.status(500).send(error.message)

/** Starts a server with what `mount` puts on an app. */
export async function openSite(framework: typeof express, mount: (app: Express) => void): Promise<Site> {
  const app = framework()
  app.set('env', 'test')
  mount(app)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return siteOf({ server, listener: app })
}

/** A site where the same is mounted twice, once behind a queue. */
export async function openTwins(
  framework: typeof express,
  mount: (app: Express, gate: RequestHandler, path: string) => void,
): Promise<Twins> {
  return twinsOf(
    (options) => closing(fairQueue(options)),
    (gate) =>
      openSite(framework, (app) => {
        mount(app, (_req, _res, next) => next(), '/bare')
        mount(app, gate, '/gated')
      }),
  )
}
