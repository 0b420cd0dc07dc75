import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { answerBody, answerHeaders, type Admitted, type Answer, type Refusal, type Visit } from '@fairqueue/core/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FairQueueHookOptions } from './options.js'

/** Goes on to the next hook, or with an error to Fastify's error handling. */
export type Done = (error?: Error) => void

/** What a user has put in the place of a refusal's answer. */
export type OwnAnswers = Pick<FairQueueHookOptions, 'handler' | 'errorResponseBuilder'>

/** A request keeps its latest visit under this name: that is how its handler, when it begins, finds those whom its end concerns. */
export const latestVisit: unique symbol = Symbol('fairqueue.latestVisit')

/** A request that knows of its visits. */
export type VisitingRequest = FastifyRequest & { [latestVisit]: FastifyVisit | null }

/**
 * A request in one of Fastify's hooks. Whether its handler tells of its end is known only when it begins, because a later hook may answer
 * instead, and when it returns, because it may go on in callbacks.
 */
export class FastifyVisit implements Visit<FastifyRequest> {
  readonly request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #done: Done
  readonly #own: OwnAnswers
  #admitted: Admitted | undefined
  /** The same request's visit to a gate before this one. */
  #earlier: FastifyVisit | null = null
  #tellsHandlerEnd = false

  constructor(request: FastifyRequest, reply: FastifyReply, done: Done, own: OwnAnswers) {
    this.request = request
    this.#reply = reply
    this.#done = done
    this.#own = own
  }

  get req(): IncomingMessage {
    return this.request.raw
  }

  get res(): ServerResponse {
    return this.#reply.raw
  }

  get tellsHandlerEnd(): boolean {
    return this.#tellsHandlerEnd
  }

  earlierHeaders(): OutgoingHttpHeaders {
    return this.#reply.getHeaders() as OutgoingHttpHeaders
  }

  proceed(admitted: Admitted): void {
    const request = this.request as VisitingRequest
    request.fairQueue = admitted
    this.#admitted = admitted
    this.#earlier = request[latestVisit]
    request[latestVisit] = this
    this.#done()
  }

  refuse(refusal: Refusal, answer: Answer): void {
    const { handler, errorResponseBuilder } = this.#own
    const { request } = this
    const reply = this.#reply
    if (handler !== undefined) {
      void this.#run(() => handler(request, reply, refusal, () => this.#done()))
      return
    }
    if (errorResponseBuilder === undefined) {
      this.answer(answer)
    } else {
      this.#writeHead(answer)
      void this.#run(() => {
        throw errorResponseBuilder(request, refusal)
      })
    }
  }

  answer(answer: Answer): void {
    this.#writeHead(answer)
    const body = answerBody(this.req, answer)
    // Fastify would put a charset behind the type of a text.
    void this.#reply.send(typeof body === 'string' ? Buffer.from(body) : body)
  }

  #writeHead(answer: Answer): void {
    const reply = this.#reply
    reply.code(answer.status).headers(answerHeaders(answer, (name) => reply.getHeader(name)))
  }

  leave(): void {
    // Without a call of `done` nothing behind the hook runs.
    if (!this.#reply.sent) this.#reply.hijack()
  }

  fail(error: unknown): void {
    this.#done(error as Error)
  }

  /** The route's handler begins. */
  handlerBegins(): void {
    this.#tellsHandlerEnd = true
    this.#earlier?.handlerBegins()
  }

  /**
   * The route's handler has returned, and its promise has settled if there was one (`settled`). Otherwise it may go on, and so it may on a
   * response that it has taken over: then the response has to tell.
   */
  handlerEnded(settled: boolean): void {
    const hijacked = this.#reply.sent && !this.res.writableEnded
    this.#tellsHandlerEnd = settled && !hijacked
    this.#admitted!.handlerDone()
    this.#earlier?.handlerEnded(settled)
  }

  /** Lets a function answer in all the ways in which a handler can. */
  async #run(answer: () => unknown): Promise<void> {
    try {
      const payload = await answer()
      if (payload !== undefined && !this.#reply.sent) void this.#reply.send(payload)
    } catch (error) {
      // To go on without an error would be to run the handler.
      this.fail(error ?? new Error('A function among the options of fairQueue threw nothing.'))
    }
  }
}
