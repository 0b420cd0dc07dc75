import { sendAnswer, type Admitted, type Answer, type Refusal, type Visit } from '@fairqueue/core/http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { FairQueueMiddlewareOptions } from './options.js'

/**
 * A request in front of a route. Express does not tell a middleware when the route's handler has ended; a handler that the middleware calls
 * itself (`wrap`) does tell.
 */
export class ExpressVisit implements Visit<Request> {
  readonly request: Request
  readonly res: Response
  readonly #next: NextFunction
  readonly #refuse: FairQueueMiddlewareOptions['handler']
  readonly #wrapped: RequestHandler | undefined

  constructor(
    req: Request,
    res: Response,
    next: NextFunction,
    refuse: FairQueueMiddlewareOptions['handler'],
    wrapped?: RequestHandler,
  ) {
    this.request = req
    this.res = res
    this.#next = next
    this.#refuse = refuse
    this.#wrapped = wrapped
  }

  get req(): Request {
    return this.request
  }

  get tellsHandlerEnd(): boolean {
    return this.#wrapped !== undefined
  }

  proceed(admitted: Admitted): void {
    const { request, res } = this
    const wrapped = this.#wrapped
    request.fairQueue = admitted
    if (wrapped === undefined) {
      this.#next()
    } else {
      this.#run(
        () => wrapped(request, res, this.#next),
        () => admitted.handlerDone(),
      )
    }
  }

  refuse(refusal: Refusal, answer: Answer): void {
    const refuse = this.#refuse
    if (refuse === undefined) this.answer(answer)
    else this.#run(() => refuse(this.request, this.res, this.#next, refusal))
  }

  answer(answer: Answer): void {
    sendAnswer(this.request, this.res, answer)
  }

  leave(): void {
    // Without a call of `next` nothing behind the middleware runs, and Express keeps nothing of the request.
  }

  fail(error: unknown): void {
    this.#next(error)
  }

  /** Runs a handler, in whatever way it ends; what it throws goes where Express 5 sends it, also in Express 4. */
  #run(handler: () => unknown, ended?: () => void): void {
    let result: unknown
    try {
      result = handler()
    } catch (error) {
      ended?.()
      this.#next(error)
      return
    }
    if (!isPromise(result)) {
      ended?.()
      return
    }
    result.then(ended, (error: unknown) => {
      ended?.()
      this.#next(error ?? new Error('The handler rejected without a reason.'))
    })
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
