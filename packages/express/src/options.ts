import type { FairQueue } from '@fairqueue/core'
import type { FairQueueCore, GateOptions, Refusal } from '@fairqueue/core/http'
import type { NextFunction, Request, Response } from 'express'

/** Options of a middleware: those of the queue that it makes, and its own. */
export interface FairQueueMiddlewareOptions extends GateOptions<Request> {
  /** Sends the refusal's answer in the place of the middleware, or passes on with `next()`. */
  readonly handler?: (req: Request, res: Response, next: NextFunction, refusal: Refusal) => unknown
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
  readonly queue: (req: Request) => FairQueueCore
}
