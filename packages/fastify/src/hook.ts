import type { CloseOptions, FairQueue } from '@fairqueue/core'
import type { Gate } from '@fairqueue/core/http'
import type {
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify'
import { FastifyVisit, latestVisit, type Done, type OwnAnswers, type VisitingRequest } from './fastifyVisit.js'
import { hookNames } from './options.js'

/** Requests of any server, also of HTTP/2. */
type HookedRequest = FastifyRequest<RouteGenericInterface, RawServerBase, RawRequestDefaultExpression<RawServerBase>>
type HookedReply = FastifyReply<
  RouteGenericInterface,
  RawServerBase,
  RawRequestDefaultExpression<RawServerBase>,
  RawReplyDefaultExpression<RawServerBase>
>

/** A hook that lets requests through in their turn: for a route's `onRequest`, `preParsing`, `preValidation` or `preHandler`. */
export interface FairQueueHook<Queue extends FairQueue | null = FairQueue> {
  (request: HookedRequest, reply: HookedReply, done: Done): void
  (request: HookedRequest, reply: HookedReply, payload: unknown, done: Done): void
  /** The queue that requests wait in; null where a function chooses one for each. */
  readonly queue: Queue
  /**
   * Closes the queue if this hook made it: who waits and who comes is refused (503), who runs may finish within `graceMs` (default 10 s).
   * The plugin does so when the server closes. Idempotent; never rejects.
   */
  close(options?: CloseOptions): Promise<void>
}

const hooks = new WeakSet<object>()

/** Makes the hook of a gate. */
export function hookOf(gate: Gate<FastifyRequest>, own: OwnAnswers): FairQueueHook {
  // What comes third in `preParsing` is the body.
  const handle = (request: FastifyRequest, reply: FastifyReply, third: unknown, done = third as Done): void =>
    gate.handle(new FastifyVisit(request, reply, done, own))
  hooks.add(handle)
  return Object.assign(handle, { queue: gate.queue as FairQueue, close: gate.close.bind(gate) }) as FairQueueHook
}

/** Whether a route's own hooks have one of ours among them. */
export function hasHook(route: RouteOptions): boolean {
  return hookNames.some((name) => [route[name] ?? []].flat().some((hook) => hooks.has(hook)))
}

/** The handler of a route with a hook: its end is told to the visits of each request. */
export function watched(handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    const visit = (request as VisitingRequest)[latestVisit]
    if (visit === null) return handler.call(this, request, reply)
    visit.handlerBegins()
    let result: unknown
    try {
      result = handler.call(this, request, reply)
    } catch (error) {
      visit.handlerEnded(true)
      throw error
    }
    // A reply has a `then` too, but that waits for the response.
    if (result !== reply && isPromise(result)) {
      const ended = (): void => visit.handlerEnded(true)
      result.then(ended, ended)
    } else {
      visit.handlerEnded(result !== undefined && result !== reply)
    }
    return result
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
