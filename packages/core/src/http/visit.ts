import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Answer } from './answer.js'
import type { Admitted } from './context.js'
import type { Refusal } from './refusal.js'

/**
 * One request at the gate, as the adapter of its framework presents it. `Request` is what the user's own functions get to see.
 * Of `proceed`, `refuse`, `answer`, `leave` and `fail` exactly one is called, once, perhaps before `gate.handle()` returns.
 */
export interface Visit<Request> {
  readonly request: Request
  /** Node's own objects behind the framework's, of HTTP/1 or of the compatibility API of HTTP/2. */
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /**
   * Whether the adapter sees the handler's end and will call `admitted.handlerDone()`; else the response tells. May change: an adapter may
   * get to know only when the handler begins, or returns.
   */
  readonly tellsHandlerEnd: boolean
  /** Headers that are set already but kept elsewhere than on `res` (Fastify's `reply`). */
  earlierHeaders?(): OutgoingHttpHeaders
  /** Make it known to the handler and run it. */
  proceed(admitted: Admitted): void
  /** Send this answer, or whatever the user has put in its place. */
  refuse(refusal: Refusal, answer: Answer): void
  /** Send this answer, which refuses nothing. The handler must not run. */
  answer(answer: Answer): void
  /** Do nothing more: the client is gone, or has its answer. The handler must not run. */
  leave(): void
  /** One of the user's functions threw before any place was taken: to the framework's error handling. */
  fail(error: unknown): void
}
