import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerBody, answerHeaders, type Admitted, type Answer, type Refusal, type Visit } from '@fairqueue/core/http'
import type { Context, Next } from 'koa'
import type { FairQueueMiddlewareOptions } from './options.js'

/** A request in front of a route. What becomes of it settles the promise of the middleware, on which the layers around it wait. */
export class KoaVisit implements Visit<Context> {
  readonly request: Context
  readonly #next: Next
  readonly #refuse: FairQueueMiddlewareOptions['handler']
  readonly #resolve: (ended?: Promise<void>) => void
  readonly #reject: (error: unknown) => void
  #goesOn = false

  constructor(
    ctx: Context,
    next: Next,
    refuse: FairQueueMiddlewareOptions['handler'],
    resolve: (ended?: Promise<void>) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = ctx
    this.#next = next
    this.#refuse = refuse
    this.#resolve = resolve
    this.#reject = reject
  }

  get req(): IncomingMessage {
    return this.request.req
  }

  get res(): ServerResponse {
    return this.request.res
  }

  /** The promise of `next()` tells, except for who has taken the response over: such a handler may go on in callbacks. */
  get tellsHandlerEnd(): boolean {
    return !this.#goesOn
  }

  proceed(admitted: Admitted): void {
    this.request.fairQueue = admitted
    // Untyped: `DefaultState` is `any`, and whatever is added to it gets in the way of the users' own states.
    this.request.state['fairQueue'] = admitted
    this.#resolve(this.#runHandler(admitted))
  }

  async #runHandler(admitted: Admitted): Promise<void> {
    try {
      await this.#next()
      this.#goesOn = this.request.respond === false && !this.res.writableEnded
    } finally {
      admitted.handlerDone()
    }
  }

  refuse(refusal: Refusal, answer: Answer): void {
    this.#resolve(this.#answerRefused(refusal, answer))
  }

  /** On the context, not on the wire: the layers around the middleware see a refusal as they see any answer. */
  async #answerRefused(refusal: Refusal, answer: Answer): Promise<void> {
    if (this.#refuse === undefined) this.#write(answer)
    else await this.#refuse(this.request, this.#next, refusal)
  }

  answer(answer: Answer): void {
    this.#write(answer)
    this.#resolve()
  }

  #write(answer: Answer): void {
    const ctx = this.request
    ctx.status = answer.status
    ctx.body = answerBody(ctx.req, answer)
    ctx.set(answerHeaders(answer, (name) => ctx.res.getHeader(name)))
  }

  leave(): void {
    this.request.respond = false
    this.#resolve()
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
