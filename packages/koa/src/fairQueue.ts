import type { FairQueue } from '@fairqueue/core'
import { openGate, withDefaults, type FairQueueContext } from '@fairqueue/core/http'
import type { Context, Next } from 'koa'
import { KoaVisit } from './koaVisit.js'
import type { ChosenQueueOptions, FairQueueMiddlewareOptions, OwnQueueOptions, SharedQueueOptions } from './options.js'

declare module 'koa' {
  interface ExtendableContext {
    /** This request's place, behind a `fairQueue` middleware. */
    fairQueue: FairQueueContext
  }
}

/** A middleware that lets requests through in their turn. */
export interface FairQueueMiddleware<Queue extends FairQueue | null = FairQueue> {
  (ctx: Context, next: Next): Promise<void>
  /** The queue that requests wait in; null where a function chooses one for each. */
  readonly queue: Queue
  /**
   * Closes the queue if this middleware made it: who waits and who comes is refused (503), who runs may finish within `graceMs`
   * (default 10 s). Idempotent; never rejects.
   */
  close(options?: Parameters<FairQueue['close']>[0]): Promise<void>
}

/** Makes middlewares; see {@link fairQueue}. */
export interface FairQueueFactory {
  /** @throws OptionError naming the option and what it got */
  (options: OwnQueueOptions | SharedQueueOptions): FairQueueMiddleware
  (options: ChosenQueueOptions): FairQueueMiddleware<null>
}

/** A `fairQueue` with defaults for what it makes, e.g. one store and one `keyGenerator` for ten routes. Options given later win. */
export function createFairQueue(defaults: FairQueueMiddlewareOptions): FairQueueFactory {
  const make = (options: FairQueueMiddlewareOptions): FairQueueMiddleware => middleware(withDefaults(defaults, options))
  return make as FairQueueFactory
}

/**
 * Puts a fair waiting line and a limit on concurrent work in front of a route or of a whole application. Mount it behind CORS, authentication
 * and body parsers. The place is kept until all behind it has ended and the response is sent.
 * @example
 * router.post('/chat', fairQueue({ concurrency: 8, keyGenerator: (ctx) => ctx.get('x-user') }), answer)
 */
export const fairQueue: FairQueueFactory = createFairQueue({})

function middleware(options: FairQueueMiddlewareOptions): FairQueueMiddleware {
  const gate = openGate(options)
  const refuse = options.handler
  const handle = (ctx: Context, next: Next): Promise<void> =>
    new Promise((resolve, reject) => {
      gate.handle(new KoaVisit(ctx, next, refuse, resolve, reject))
    })
  return Object.assign(handle, { queue: gate.queue as FairQueue, close: gate.close.bind(gate) })
}
