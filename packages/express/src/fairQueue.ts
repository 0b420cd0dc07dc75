import type { FairQueue } from '@fairqueue/core'
import { openGate, withDefaults, type FairQueueContext } from '@fairqueue/core/http'
import type { RequestHandler } from 'express'
import { ExpressVisit } from './expressVisit.js'
import type { ChosenQueueOptions, FairQueueMiddlewareOptions, OwnQueueOptions, SharedQueueOptions } from './options.js'

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    interface Request {
      /** This request's place, behind a `fairQueue` middleware. */
      fairQueue: FairQueueContext
    }
  }
}

/** A middleware that lets requests through in their turn. */
export interface FairQueueMiddleware<Queue extends FairQueue | null = FairQueue> extends RequestHandler {
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
  /**
   * The same in one piece with a handler, whose end is then known exactly: if the client goes, the place is kept until the handler's
   * promise has settled, neither shorter nor longer. What it throws goes to `next`, also in Express 4.
   */
  wrap(options: OwnQueueOptions | SharedQueueOptions, handler: RequestHandler): FairQueueMiddleware
  wrap(options: ChosenQueueOptions, handler: RequestHandler): FairQueueMiddleware<null>
}

/** A `fairQueue` with defaults for what it makes, e.g. one store and one `keyGenerator` for ten routes. Options given later win. */
export function createFairQueue(defaults: FairQueueMiddlewareOptions): FairQueueFactory {
  const make = (options: FairQueueMiddlewareOptions): FairQueueMiddleware => middleware(withDefaults(defaults, options))
  const wrap = (options: FairQueueMiddlewareOptions, handler: RequestHandler): FairQueueMiddleware =>
    middleware(withDefaults(defaults, options), handler)
  return Object.assign(make, { wrap }) as FairQueueFactory
}

/**
 * Puts a fair waiting line and a limit on concurrent work in front of a route. Mount it after CORS, authentication and body parsers.
 * @example
 * app.post('/chat', fairQueue({ concurrency: 8, keyGenerator: (req) => req.get('x-user') }), answer)
 */
export const fairQueue: FairQueueFactory = createFairQueue({})

function middleware(options: FairQueueMiddlewareOptions, handler?: RequestHandler): FairQueueMiddleware {
  const gate = openGate(options)
  const refuse = options.handler
  const handle: RequestHandler = (req, res, next) => gate.handle(new ExpressVisit(req, res, next, refuse, handler))
  return Object.assign(handle, { queue: gate.queue as FairQueue, close: gate.close.bind(gate) })
}
