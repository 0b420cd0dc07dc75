import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { HttpException } from '@nestjs/common'
import { finalize, type Observable } from 'rxjs'
import {
  answerHeaders,
  type Admitted,
  type Answer,
  type FairQueueContext,
  type Refusal,
  type Visit,
} from '@fairqueue/core/http'

/** A request as Nest has it: of Express, or of Fastify around Node's own. */
export type NestRequest = Pick<IncomingMessage, 'headers' | 'method' | 'url'> & {
  readonly raw?: IncomingMessage
  fairQueue?: FairQueueContext
}

/** A response as Nest has it. */
export interface NestResponse {
  readonly raw?: ServerResponse
  /** Fastify's: from now on the reply is nobody's. */
  hijack?(): void
  getHeader(name: string): OutgoingHttpHeaders[string]
  getHeaders(): OutgoingHttpHeaders
}

/** Sets a header on a response of whatever platform. */
export type SetHeader = (response: NestResponse, name: string, value: string) => void

/** A request that waits in a guard. An interceptor, which comes later, sees when its handler begins and ends. */
export class NestVisit implements Visit<NestRequest> {
  readonly request: NestRequest
  /** Resolves when the turn has come; rejects with what Nest shall answer. */
  readonly turn: Promise<void>
  readonly #response: NestResponse
  readonly #setHeader: SetHeader
  readonly #admit: () => void
  readonly #reject: (error: unknown) => void
  #admitted: Admitted | undefined
  #handlerBegan = false

  constructor(request: NestRequest, response: NestResponse, setHeader: SetHeader) {
    this.request = request
    this.#response = response
    this.#setHeader = setHeader
    let admit: () => void
    let refuse: (error: unknown) => void
    this.turn = new Promise((resolve, reject) => {
      admit = resolve
      refuse = reject
    })
    this.#admit = admit!
    this.#reject = refuse!
  }

  get req(): IncomingMessage {
    return this.request.raw ?? (this.request as IncomingMessage)
  }

  get res(): ServerResponse {
    return this.#response.raw ?? (this.#response as ServerResponse)
  }

  /** Not before it has begun: another guard, or a pipe, may still answer in its place. */
  get tellsHandlerEnd(): boolean {
    return this.#handlerBegan
  }

  earlierHeaders(): OutgoingHttpHeaders {
    return this.#response.getHeaders()
  }

  proceed(admitted: Admitted): void {
    this.#admitted = admitted
    this.request.fairQueue = admitted
    this.#admit()
  }

  /** Nest's exception filters answer, as they do for every other error: the type and the length of the body are theirs to say. */
  refuse(refusal: Refusal, answer: Answer): void {
    this.#throw(answer, refusal.error)
  }

  answer(answer: Answer): void {
    this.#throw(answer)
  }

  #throw(answer: Answer, cause?: unknown): void {
    const headers = answerHeaders(answer, (name) => this.#response.getHeader(name))
    for (const [name, value] of Object.entries(headers))
      if (!name.startsWith('Content-')) this.#setHeader(this.#response, name, value)
    const body = answer.body === '' ? '' : (JSON.parse(answer.body) as object)
    this.#reject(new HttpException(body, answer.status, { cause }))
  }

  /** The client has gone, or has its answer: the guard never comes to an end, so nothing behind it runs. */
  leave(): void {
    this.#response.hijack?.()
  }

  fail(error: unknown): void {
    this.#reject(error)
  }

  /** The handler as an interceptor has it; its end is the place's, if the response has ended too. */
  watch<Value>(handler: Observable<Value>): Observable<Value> {
    this.#handlerBegan = true
    return handler.pipe(finalize(() => this.#admitted?.handlerDone()))
  }
}
