import type { FairQueue } from '@fairqueue/core'
import type { FairQueueCore, GateOptions, Refusal } from '@fairqueue/core/http'
import type { Context, Next } from 'koa'

/** Options of a middleware: those of the queue that it makes, and its own. Functions of the request get Koa's context. */
export interface FairQueueMiddlewareOptions extends GateOptions<Context> {
  /** Sets the refusal's answer on the context in the place of the middleware, throws it (`ctx.throw`), or passes on with `next()`. */
  readonly handler?: (ctx: Context, next: Next, refusal: Refusal) => unknown
}

/** Options of a middleware that makes its own queue. */
export interface OwnQueueOptions extends FairQueueMiddlewareOptions {
  readonly queue?: never
}

/** Options of a middleware in front of a queue that others use too. */
export interface SharedQueueOptions extends FairQueueMiddlewareOptions {
  readonly queue: FairQueue
}

/** Options of a middleware that chooses a queue for each request. */
export interface ChosenQueueOptions extends FairQueueMiddlewareOptions {
  readonly queue: (ctx: Context) => FairQueueCore
}
