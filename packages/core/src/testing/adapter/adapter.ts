import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FairQueue } from '../../index.js'
import type { AddressedRequest, FairQueueContext, GateOptions, Refusal } from '../../http.js'

/**
 * What a framework's adapter gives to join the adapter suite: how an application of the framework is built from a plan, and how the
 * adapter under test stands in it. All that follows is the suite's: it sends bytes to a real server and looks at what comes back.
 */
export interface Adapter {
  /** The framework and the major that is meant, e.g. `Koa 3`. */
  readonly name: string
  /** The version that was loaded, as its own package says; the suite asserts that it has this major. */
  readonly version: string
  /** Whether the adapter sees a handler's end; else the handler's `res.end()` tells. */
  readonly seesHandlerEnd: boolean
  /** Whether the framework serves HTTP/2. */
  readonly servesHttp2: boolean
  /** Whether an application can have a layer that compresses answers ({@link Route.compressed}). */
  readonly compresses: boolean
  /**
   * Makes what stands in front of routes, as `createFairQueue(defaults)(options)` does; without defaults as `fairQueue(options)` does.
   * Functions among the options get the framework's own request.
   */
  gate(options: AdapterOptions, defaults?: AdapterOptions): AdapterGate
  /** The option `handler` in the framework's own form. */
  refusalHandler(handler: RefusalHandler): NonNullable<AdapterOptions['handler']>
  /** Builds an application and has it listen on a free port of 127.0.0.1. */
  open(plan: Plan): Promise<Application>
}

/** Options of a gate, whatever the framework. */
export type AdapterOptions = GateOptions<AnyRequest>

/** What the requests of all frameworks have in common (Koa's context is one). */
export interface AnyRequest extends AddressedRequest {
  readonly method: string
  readonly originalUrl: string
  readonly headers: IncomingHttpHeaders
}

/** What `adapter.gate` makes. The suite only hands it back in a plan. */
export interface AdapterGate {
  readonly queue: FairQueue | null
  close(options?: { readonly graceMs: number | string }): Promise<void>
}

/** An application to build. */
export interface Plan {
  /** Served over HTTP/2, without TLS. */
  readonly http2?: boolean
  /** Layers in front of all else, the outermost first. */
  readonly layers?: readonly Layer[]
  /** Headers that a layer in front of all gates sets in the framework's own way, as one for CORS does. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Errors are answered by an error handler of the application: status 500, and the error's message as the body. Default: as the framework
   * does it, with the error's `status` if it has one.
   */
  readonly showErrors?: boolean
  /** Gate and routes are mounted together under this prefix (a router, a sub-application, a plugin). Default: at the root. */
  readonly prefix?: string
  /** In front of all routes. */
  readonly gate?: AdapterGate
  readonly routes: readonly Route[]
}

/** A layer around everything, that sees Node's own objects. It goes on with `next`, or answers. */
export type Layer = (req: IncomingMessage, res: ServerResponse, next: () => unknown) => unknown

/** One route. */
export interface Route {
  /** Default `GET` (and `HEAD`, as frameworks have it); `ALL`: every method. */
  readonly method?: 'GET' | 'POST' | 'OPTIONS' | 'ALL'
  readonly path: string
  /** In front of this route. */
  readonly gate?: AdapterGate
  /** Reads a JSON body before the gate. Default: nobody reads the body, unless the handler does. */
  readonly parsesBody?: boolean
  /** Where a layer stands that compresses whatever it can, as seen from the gate. Default: nowhere. */
  readonly compressed?: Compressed
  readonly handler: Handler
}

export type Compressed = 'outside' | 'inside' | 'on both sides'

/** Answers a request. What the methods of the call return must be returned by the handler. */
export type Handler = (call: Call) => unknown

/** Answers a refused request, throws, or lets it in all the same with `pass`. */
export type RefusalHandler = (call: Call, refusal: Refusal, pass: () => unknown) => unknown

/** One request in a handler. */
export interface Call {
  readonly request: AnyRequest
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** What the adapter tells the handler; undefined where no gate stands. */
  readonly place: FairQueueContext
  /** Takes Node's response over, with status 200 and no header of the framework's; the framework sends nothing any more. */
  readonly raw: () => ServerResponse
  /** Answers in the framework's own ways. */
  readonly text: (body: string | Buffer, init?: Init) => unknown
  readonly json: (value: unknown, init?: Init) => unknown
  readonly stream: (body: Readable, init?: Init) => unknown
  /** The request's body, read after the gate. */
  readonly body: () => Promise<string>
}

/** Status (default 200) and headers of an answer. */
export interface Init {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** An application that listens. */
export interface Application {
  readonly server: Server
  /** What the server calls for each request. */
  readonly listener: RequestListener
  /** Closes the framework's own things, if it has any; the suite closes the server. */
  close?(): Promise<void>
}
