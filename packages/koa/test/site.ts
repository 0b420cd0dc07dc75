import { once } from 'node:events'
import { createServer } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { fairQueue, type FairQueueMiddleware } from '@fairqueue/koa'
import { closing, siteOf } from '@fairqueue/test/kit/site'
import { twinsOf, type Site, type Twins } from '@fairqueue/core/testing/adapter'
import { koa2 } from './koaAdapter.js'

type Framework = typeof Koa

/** Both majors; every test runs on each. */
export const koaVersions: readonly { readonly version: string; readonly framework: Framework }[] = [
  { version: 'Koa 3', framework: Koa },
  { version: 'Koa 2', framework: koa2 },
]

/** A site, and what its application tells of in `error` events. */
export interface KoaSite extends Site {
  readonly errors: readonly Error[]
}

/** Starts a server with these layers, the outermost first. */
export async function openSite(framework: Framework, ...layers: readonly Middleware[]): Promise<KoaSite> {
  const app = new framework()
  const errors: Error[] = []
  app.on('error', (error: Error) => errors.push(error))
  for (const layer of layers) app.use(layer)
  const listener = app.callback()
  const server = createServer((req, res) => void listener(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { ...siteOf({ server, listener: (req, res) => void listener(req, res) }), errors }
}

/** The same handler twice, once behind a queue. */
export async function openTwins(framework: Framework, handler: (ctx: Context) => unknown): Promise<Twins & KoaSite> {
  let site: KoaSite
  const twins = await twinsOf(
    (options) => closing(fairQueue(options)),
    async (gate: FairQueueMiddleware) => {
      site = await openSite(
        framework,
        (ctx, next) => (ctx.path === '/gated' ? gate(ctx, next) : next()),
        async (ctx) => {
          await handler(ctx)
        },
      )
      return site
    },
  )
  return { ...twins, errors: site!.errors }
}
