import type { Duration, FairQueue } from '@fairqueue/core'
import type { FairQueueCore, GateOptions, Refusal } from '@fairqueue/core/http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Options of `app.fairQueue()`: those of the queue that it makes, and its own. */
export interface FairQueueHookOptions extends GateOptions<FastifyRequest> {
  /**
   * Makes what a refused request throws, so that Fastify's error handling (`setErrorHandler`) answers: an `Error`, or an object that becomes
   * the body. Its `statusCode`, if it has one, wins over the refusal's. `Retry-After` and the other headers are set already.
   */
  readonly errorResponseBuilder?: (request: FastifyRequest, refusal: Refusal) => unknown
  /**
   * Sends the refusal's answer instead, as a Fastify handler does: with `reply`, or by returning or throwing it. Or it lets the request in
   * all the same, without a place, with `pass()`.
   */
  readonly handler?: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal, pass: () => void) => unknown
}

/** Options of a hook that makes its own queue. */
export interface OwnQueueOptions extends FairQueueHookOptions {
  readonly queue?: never
}

/** Options of a hook in front of a queue that others use too. */
export interface SharedQueueOptions extends FairQueueHookOptions {
  readonly queue: FairQueue
}

/** Options of a hook that chooses a queue for each request. */
export interface ChosenQueueOptions extends FairQueueHookOptions {
  readonly queue: (request: FastifyRequest) => FairQueueCore
}

/** The moments in the life of a request at which it can be made to wait. */
export const hookNames = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/** One of them. */
export type FairQueueHookName = (typeof hookNames)[number]

/**
 * A route's `config.fairQueue`. What it leaves out is as the plugin was registered, except for `name` and `queue`: without them the line is
 * the route's own.
 */
export interface FairQueueRouteOptions extends FairQueueHookOptions {
  /** When a request takes its place. Default `'preHandler'`: its body has been parsed and validated, and its user is known. */
  readonly hook?: FairQueueHookName
}

/** Options of the plugin: those of its own line, which are also the defaults of routes and of `app.fairQueue()`. */
export interface FairQueuePluginOptions extends FairQueueRouteOptions {
  /** Whether routes that say nothing stand in the plugin's own line; false: only routes that ask are queued. Default true. */
  readonly global?: boolean
  /** How long running requests may take to finish when the server closes, before their leases are taken away. 0: at once. Default 10 s. */
  readonly closeGraceMs?: Duration
}
