import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { pipeline } from 'node:stream/promises'
import { text as readAll } from 'node:stream/consumers'
import {
  openGate,
  sendAnswer,
  withDefaults,
  type Admitted,
  type Answer,
  type FairQueueContext,
  type Gate,
  type Refusal,
  type Visit,
} from '@fairqueue/core/http'
import type {
  Adapter,
  AdapterGate,
  AdapterOptions,
  AnyRequest,
  Call,
  Init,
  Plan,
  Route,
} from '@fairqueue/core/testing/adapter'

/** What is wrong with a toy adapter. */
export type AdapterFault = 'runs who is refused' | 'says that handlers are done at once'

/** Node's own server as a framework: one object a request, and layers that call the next one. */
interface Context extends AnyRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  place: FairQueueContext
}

type Next = () => Promise<void>

type Refuse = (context: Context, next: Next, refusal: Refusal) => unknown

/** The adapter for it. */
class ToyGate implements AdapterGate {
  readonly #gate: Gate<AnyRequest>
  readonly #refuse: Refuse | undefined
  readonly #fault: AdapterFault | undefined

  constructor(options: AdapterOptions, fault: AdapterFault | undefined) {
    this.#gate = openGate(options)
    this.#refuse = options.handler as Refuse | undefined
    this.#fault = fault
  }

  get queue(): AdapterGate['queue'] {
    return this.#gate.queue
  }

  close(options?: { readonly graceMs: number | string }): Promise<void> {
    return this.#gate.close(options)
  }

  pass(context: Context, next: Next): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#gate.handle(new ToyVisit(context, next, this.#refuse, this.#fault, resolve, reject))
    })
  }
}

class ToyVisit implements Visit<AnyRequest> {
  readonly request: Context
  readonly #next: Next
  readonly #refuse: Refuse | undefined
  readonly #fault: AdapterFault | undefined
  readonly #resolve: (ended?: Promise<void>) => void
  readonly #reject: (error: unknown) => void
  #goesOn = false

  constructor(
    context: Context,
    next: Next,
    refuse: Refuse | undefined,
    fault: AdapterFault | undefined,
    resolve: (ended?: Promise<void>) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = context
    this.#next = next
    this.#refuse = refuse
    this.#fault = fault
    this.#resolve = resolve
    this.#reject = reject
  }

  get req(): IncomingMessage {
    return this.request.req
  }

  get res(): ServerResponse {
    return this.request.res
  }

  /** A handler that has returned without an end of its response goes on in callbacks. */
  get tellsHandlerEnd(): boolean {
    return !this.#goesOn
  }

  proceed(admitted: Admitted): void {
    this.request.place = admitted
    this.#resolve(this.#run(admitted))
  }

  async #run(admitted: Admitted): Promise<void> {
    if (this.#fault === 'says that handlers are done at once') admitted.handlerDone()
    try {
      await this.#next()
      this.#goesOn = !this.res.writableEnded
    } finally {
      admitted.handlerDone()
    }
  }

  refuse(refusal: Refusal, answer: Answer): void {
    if (this.#fault === 'runs who is refused') this.#resolve(this.#next())
    else if (this.#refuse === undefined) this.answer(answer)
    else this.#resolve(this.#refuseBy(this.#refuse, refusal))
  }

  async #refuseBy(refuse: Refuse, refusal: Refusal): Promise<void> {
    await refuse(this.request, this.#next, refusal)
  }

  answer(answer: Answer): void {
    sendAnswer(this.req, this.res, answer)
    this.#resolve()
  }

  leave(): void {
    this.#resolve()
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}

/** The toy in the adapter suite. */
export function toyAdapter(fault?: AdapterFault): Adapter {
  return {
    name: `node:http ${process.versions.node.split('.')[0]}`,
    version: process.versions.node,
    seesHandlerEnd: true,
    servesHttp2: true,
    compresses: false,
    gate: (options, defaults = {}) => new ToyGate(withDefaults(defaults, options), fault),
    refusalHandler: (handler) => (context: Context, next: Next, refusal: Refusal) =>
      handler(callOf(context), refusal, next),
    open: async (plan) => {
      const listener: RequestListener = (req, res) => void serve(plan, req, res)
      const make = plan.http2 ? (createHttp2Server as unknown as typeof createServer) : createServer
      const server = make(listener).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return { server, listener }
    },
  }
}

async function serve(plan: Plan, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = 'GET', url: originalUrl = '/', headers, socket } = req
  const context: Context = {
    method,
    originalUrl,
    headers,
    socket,
    ip: socket.remoteAddress,
    req,
    res,
    place: undefined as never,
  }
  let next: Next = () => answerRoute(plan, context)
  for (const layer of (plan.layers ?? []).toReversed()) {
    const inner = next
    next = async () => void (await layer(req, res, inner))
  }
  try {
    await next()
  } catch (error) {
    if (res.headersSent) res.destroy()
    else if (plan.showErrors) send(res, (error as Error).message, { status: 500 })
    else send(res, 'Something went wrong', { status: (error as { status?: number }).status ?? 500 })
  }
}

async function answerRoute({ headers = {}, prefix = '', gate, routes }: Plan, context: Context): Promise<void> {
  for (const [name, value] of Object.entries(headers)) context.res.setHeader(name, value)
  const path = new URL(context.originalUrl, 'http://a').pathname
  const route = routes.find((each) => answersTo(each, context.method) && path === `${prefix}${each.path}`)
  await through(gate, context, async () => {
    if (route === undefined) {
      send(context.res, 'Not Found', { status: 404 })
      return
    }
    if (route.parsesBody) await readAll(context.req)
    await through(route.gate, context, async () => void (await route.handler(callOf(context))))
  })
}

function answersTo({ method = 'GET' }: Route, asked: string): boolean {
  return method === 'ALL' || asked === method || (asked === 'HEAD' && method === 'GET')
}

function through(gate: AdapterGate | undefined, context: Context, next: Next): Promise<void> {
  return gate === undefined ? next() : (gate as ToyGate).pass(context, next)
}

function begin(res: ServerResponse, { status = 200, headers = {} }: Init = {}): ServerResponse {
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  return res
}

function send(res: ServerResponse, body: string | Buffer, init?: Init): void {
  if (!res.hasHeader('content-type')) res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.setHeader('Content-Length', Buffer.byteLength(body))
  begin(res, init).end(body)
}

function callOf(context: Context): Call {
  const { req, res, place } = context
  return {
    request: context,
    req,
    res,
    place,
    raw: () => begin(res),
    text: (body, init) => send(res, body, init),
    json: (value, init) => {
      res.setHeader('Content-Type', 'application/json; charset=utf-8')
      send(res, JSON.stringify(value), init)
    },
    // How a connection ends is nothing that its handler could mend.
    stream: (body, init) => pipeline(body, begin(res, init)).catch(() => undefined),
    body: () => readAll(req),
  }
}
