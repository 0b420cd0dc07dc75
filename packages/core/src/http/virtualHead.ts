import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { BodyCapture } from './bodyCapture.js'
import { finalEvent } from './finalEvent.js'

/** What the early head says beside the headers that were set before it. */
const EARLY_HEADERS = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['Cache-Control', 'no-cache, no-transform'],
  ['X-Accel-Buffering', 'no'],
] as const

/** Headers that belong to a body that will not come. */
const BODY_HEADERS = ['Content-Length', 'Content-Encoding', 'ETag', 'Last-Modified']

/** What a handler that streams events sets as a matter of course: nothing is lost when it cannot be sent any more. */
const USUAL_HEADERS = new Set([
  ...['content-type', 'cache-control', 'x-accel-buffering', 'connection', 'keep-alive', 'transfer-encoding'],
  ...['content-length', 'content-encoding', 'etag', 'last-modified', 'date', 'vary', 'server-timing'],
])

const HEADER_READERS = ['getHeader', 'getHeaders', 'getHeaderNames', 'getRawHeaderNames', 'hasHeader'] as const
const HEADER_WRITERS = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'] as const
const INTERIM_ANSWERS = ['writeContinue', 'writeProcessing', 'writeEarlyHints', 'writeInformation'] as const
const ALL_METHODS = [
  ...HEADER_READERS,
  ...HEADER_WRITERS,
  ...INTERIM_ANSWERS,
  'writeHead',
  'writeHeader',
  'flushHeaders',
  'write',
  'end',
] as const

type Method = (...args: unknown[]) => unknown

/** What the owner of a virtual head is told. */
export interface VirtualHeadListener {
  /** The head is decided: a handler, or whoever else answers, has begun to. Called once. */
  committed(): void
  /** Headers that the handler set and that could not be sent any more. */
  headersLost(names: readonly string[]): void
}

/**
 * `open`: nobody has answered yet, all that is set goes into the shadow · `passed`: the answer is a stream of events and goes through
 * byte for byte · `absorbed`: the answer is something else and becomes one final event
 */
type State = 'open' | 'passed' | 'absorbed'

/**
 * Sends the head of a stream of events early, and lets a handler that comes later do with the response whatever it does with an untouched
 * one: set headers, choose a status, `writeHead`, `json`, `redirect`, `next(err)`, pipe.
 *
 * For that the response gets own properties in front of its methods. Headers and status go to a shadow response that is never sent; the
 * first write, `end` or `writeHead` is the *virtual commit*. If what was decided is a stream of events with status 200, the properties are
 * taken away again and the rest is the handler's alone. If it is anything else, its body is kept back and sent as one final event.
 */
export class VirtualHead {
  readonly #res: ServerResponse
  readonly #listener: VirtualHeadListener
  /** Bears headers and status as the handler sees them, with Node's own checks and all forms of `writeHead`. */
  readonly #shadow: ServerResponse
  /** What was set before, and so has been sent: by lower-case name, as text. */
  readonly #sent: ReadonlyMap<string, string>
  readonly #defaultStatus: number
  readonly #hasMessage: boolean
  readonly #originals = new Map<string, Method>()
  readonly #replaced = new Map<string, { readonly ours: Method; readonly before: PropertyDescriptor | undefined }>()
  #state: State = 'open'
  #writingOurs = false
  #ended = false
  #capture: BodyCapture | undefined

  /**
   * Sends the early head. `earlierHeaders` are headers that are set, but not on `res`.
   * From here on the request asks for no compression: that is the one way to keep every compression layer, wherever it stands, out of the stream.
   */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    earlierHeaders: OutgoingHttpHeaders,
    listener: VirtualHeadListener,
  ) {
    this.#res = res
    this.#listener = listener
    this.#hasMessage = req.httpVersionMajor === 1
    this.#shadow = new ServerResponse(req)
    // Only a response that has had a header set merges those of `writeHead` into the ones that can be read.
    this.#shadow.setHeader('Date', '')
    this.#shadow.removeHeader('Date')
    const ownHeaders = Object.entries(res.getHeaders())
    for (const [name, value] of ownHeaders) if (value !== undefined) this.#shadow.setHeader(name, value)
    this.#sent = new Map(
      [...ownHeaders, ...Object.entries(earlierHeaders)].map(([name, value]) => [name.toLowerCase(), String(value)]),
    )
    this.#defaultStatus = res.statusCode
    // HTTP/2 has no such text, and warns when it is read or set.
    const statusMessage = this.#hasMessage ? res.statusMessage : ''
    req.headers['accept-encoding'] = 'identity'
    for (const [name, value] of Object.entries(earlierHeaders)) if (value !== undefined) res.setHeader(name, value)
    for (const name of BODY_HEADERS) res.removeHeader(name)
    for (const [name, value] of EARLY_HEADERS) res.setHeader(name, value)
    res.writeHead(200)
    res.flushHeaders()
    res.statusCode = this.#defaultStatus
    if (this.#hasMessage) res.statusMessage = statusMessage
    this.#install()
  }

  /** Writes into the stream, as long as nobody has answered. */
  writeOurs(text: string): void {
    if (this.#state === 'open') {
      this.#asOurs(() => {
        this.#call('write', [text])
        ;(this.#res as { flush?: () => void }).flush?.()
      })
    }
  }

  /** Runs something with the response as it really is: layers around it look at `headersSent` when they are written through. */
  #asOurs(action: () => void): void {
    this.#writingOurs = true
    try {
      action()
    } finally {
      this.#writingOurs = false
    }
  }

  #call(name: string, args: unknown[]): unknown {
    return this.#originals.get(name)!.apply(this.#res, args)
  }

  #callShadow(name: string, args: unknown[]): unknown {
    return (this.#shadow as unknown as Record<string, Method>)[name]!(...args)
  }

  #install(): void {
    const res = this.#res as unknown as Record<string, Method>
    for (const name of ALL_METHODS) if (typeof res[name] === 'function') this.#originals.set(name, res[name])
    for (const name of HEADER_READERS) this.#replace(name, (...args) => this.#readHeader(name, args))
    for (const name of HEADER_WRITERS) this.#replace(name, (...args) => this.#writeHeader(name, args))
    for (const name of INTERIM_ANSWERS) this.#replace(name, (...args) => callBack(args))
    this.#replace('writeHead', (...args) => this.#writeHead(args))
    // The same by its old name, which Node has up to version 25.
    this.#replace('writeHeader', (...args) => this.#writeHead(args))
    this.#replace('flushHeaders', () => this.#decide())
    this.#replace('write', (...args) => this.#write(args))
    this.#replace('end', (...args) => this.#end(args))
    Object.defineProperty(res, 'headersSent', {
      configurable: true,
      get: () => this.#state !== 'open' || this.#writingOurs,
    })
  }

  #replace(name: string, ours: Method): void {
    if (!this.#originals.has(name)) return
    this.#replaced.set(name, { ours, before: Object.getOwnPropertyDescriptor(this.#res, name) })
    Object.defineProperty(this.#res, name, { configurable: true, enumerable: true, writable: true, value: ours })
  }

  /** Takes our properties away; where somebody has put theirs over one of ours, both stay, and ours leads on to the original. */
  #restore(): void {
    const res = this.#res as unknown as Record<string, unknown>
    for (const [name, { ours, before }] of this.#replaced) {
      if (res[name] !== ours) continue
      if (before === undefined) delete res[name]
      else Object.defineProperty(res, name, before)
    }
    delete res['headersSent']
  }

  #readHeader(name: (typeof HEADER_READERS)[number], args: unknown[]): unknown {
    return this.#state === 'passed' ? this.#call(name, args) : this.#callShadow(name, args)
  }

  /** After the commit the original throws `ERR_HTTP_HEADERS_SENT`, as it always does. */
  #writeHeader(name: (typeof HEADER_WRITERS)[number], args: unknown[]): unknown {
    if (this.#state !== 'open') return this.#call(name, args)
    const result = this.#callShadow(name, args)
    return result === this.#shadow ? this.#res : result
  }

  #writeHead(args: unknown[]): unknown {
    if (this.#state !== 'open') return this.#call('writeHead', args)
    const shadow = this.#shadow
    if (this.#hasMessage) shadow.statusMessage = this.#res.statusMessage
    this.#callShadow('writeHead', args.map(flatHeaders))
    this.#res.statusCode = shadow.statusCode
    this.#commit()
    return this.#res
  }

  /** By way of the property, so that those who have wrapped `writeHead` since hear of it. */
  #decide(): void {
    if (this.#state === 'open') this.#res.writeHead(this.#res.statusCode)
    if (this.#state === 'open') this.#commit()
  }

  #write(args: unknown[]): unknown {
    if (!this.#writingOurs) {
      this.#decide()
      if (this.#state === 'absorbed' && !this.#ended) {
        this.#capture!.add(args[0], args[1])
        callBack(args)
        return true
      }
    }
    return this.#call('write', args)
  }

  #end(args: unknown[]): unknown {
    if (this.#writingOurs) return this.#call('end', args)
    this.#decide()
    if (this.#state === 'passed' || this.#ended) return this.#call('end', args)
    const [chunk, encoding] = args
    if (typeof chunk !== 'function' && chunk !== undefined && chunk !== null) this.#capture!.add(chunk, encoding)
    this.#ended = true
    const { body, truncated } = this.#capture!
    const text = finalEvent({ status: this.#res.statusCode, headers: this.#shadow.getHeaders(), body, truncated })
    this.#asOurs(() => this.#call('end', [text, ...args.filter((arg) => typeof arg === 'function')]))
    return this.#res
  }

  #commit(): void {
    const { statusCode } = this.#res
    const headers = this.#shadow.getHeaders()
    const isStream = /^\s*text\/event-stream\s*(;|$)/i.test(String(headers['content-type']))
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
    if (isStream && isPlain && (statusCode === 200 || statusCode === this.#defaultStatus)) {
      this.#state = 'passed'
      this.#restore()
    } else {
      this.#state = 'absorbed'
      this.#capture = new BodyCapture()
    }
    const lost = Object.keys(headers).filter((name) => this.#isLost(name, headers))
    if (lost.length > 0) this.#listener.headersLost(lost)
    this.#listener.committed()
  }

  #isLost(name: string, headers: OutgoingHttpHeaders): boolean {
    if (USUAL_HEADERS.has(name) || String(headers[name]) === this.#sent.get(name)) return false
    // A final event brings its headers along, except for those that only a head can.
    return this.#state === 'passed' || name === 'set-cookie' || name.startsWith('access-control-')
  }
}

/** `writeHead` also takes pairs, and things with entries such as `Headers` and `Map`; a response with headers of its own only the flat forms. */
function flatHeaders(arg: unknown): unknown {
  if (Array.isArray(arg)) return Array.isArray(arg[0]) ? arg.flat() : arg
  if (arg instanceof Headers || arg instanceof Map) return [...(arg as Iterable<[string, string]>)].flat()
  return arg
}

function callBack(args: readonly unknown[]): void {
  const callback = args.findLast((arg) => typeof arg === 'function')
  if (callback !== undefined) process.nextTick(callback)
}
