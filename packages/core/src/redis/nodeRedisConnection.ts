import type { ConnectionWatcher, HintConnection, HintListener, RedisConnection } from './connection.js'
import { pauseMs, RenewedHints } from './renewedHints.js'
import type { ScriptArguments } from './scripts.generated.js'

/** What this library needs of a client that `createClient()` of node-redis 6 makes. Typed by shape, so that it stays an optional peer. */
export interface NodeRedisClient extends NodeRedisCommands {
  readonly isReady: boolean
  readonly options: { readonly keyPrefix?: unknown; readonly socket?: object | undefined } | undefined
  info(section: string): Promise<unknown>
  withTypeMapping(mapping: object): NodeRedisCommands & { info(section: string): Promise<unknown> }
  duplicate(overrides: object): NodeRedisSubscriber
  on(event: 'ready' | 'error' | 'end', listener: () => void): unknown
  off(event: 'ready' | 'error' | 'end', listener: () => void): unknown
}

/** What its clients of all kinds have in common. */
export interface NodeRedisCommands {
  evalSha(sha1: string, options: NodeRedisArguments): Promise<unknown>
  eval(script: string, options: NodeRedisArguments): Promise<unknown>
}

interface NodeRedisArguments {
  keys: string[]
  arguments: string[]
}

/** A connection of our own that listens for hints. */
export interface NodeRedisSubscriber {
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>
  ping(): Promise<unknown>
  destroy(): void
  unref(): void
  readonly isOpen: boolean
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** Commands by way of node-redis, whatever the kind of its client. */
export abstract class NodeRedisWay {
  readonly keyPrefix: string
  /** Without the types that a user has mapped, e.g. all texts to Buffers. */
  readonly #commands: NodeRedisCommands

  constructor(commands: NodeRedisCommands, keyPrefix: unknown) {
    this.#commands = commands
    this.keyPrefix = typeof keyPrefix === 'string' ? keyPrefix : ''
  }

  evalsha(sha1: string, list: ScriptArguments): Promise<unknown> {
    return this.#commands.evalSha(sha1, asOptions(list))
  }

  eval(lua: string, list: ScriptArguments): Promise<unknown> {
    return this.#commands.eval(lua, asOptions(list))
  }
}

/** node-redis takes nothing but text, and keys apart. */
function asOptions(list: ScriptArguments): NodeRedisArguments {
  const texts = list.map(String)
  const keyCount = list[0] as number
  return { keys: texts.slice(1, 1 + keyCount), arguments: texts.slice(1 + keyCount) }
}

/** A client that `createClient()` of node-redis has made. */
export class NodeRedisConnection extends NodeRedisWay implements RedisConnection {
  readonly spread = false
  readonly #client: NodeRedisClient
  readonly #unmapped: ReturnType<NodeRedisClient['withTypeMapping']>

  constructor(client: NodeRedisClient) {
    const unmapped = client.withTypeMapping({})
    super(unmapped, client.options?.keyPrefix)
    this.#client = client
    this.#unmapped = unmapped
  }

  get ready(): boolean {
    return this.#client.isReady
  }

  async info(): Promise<string> {
    return String(await this.#unmapped.info('server'))
  }

  watch({ onReady, onLost }: ConnectionWatcher): () => void {
    // It tells of a lost connection by an error; other errors leave it ready.
    const onTrouble = (): void => {
      if (!this.ready) onLost()
    }
    this.#client.on('ready', onReady)
    this.#client.on('error', onTrouble)
    this.#client.on('end', onLost)
    if (this.ready) onReady()
    return () => {
      this.#client.off('ready', onReady)
      this.#client.off('error', onTrouble)
      this.#client.off('end', onLost)
    }
  }

  listen(listener: HintListener): HintConnection {
    return listenLike(() => this.#client, listener)
  }
}

/** Hints by a connection like that of a client, asked for anew each time. */
export function listenLike(
  likeWhom: () => Pick<NodeRedisClient, 'duplicate' | 'options'>,
  listener: HintListener,
): HintConnection {
  let strategy: unknown
  return new RenewedHints(
    (once) => {
      const client = likeWhom()
      const socket: { reconnectStrategy?: unknown } = { ...client.options?.socket }
      strategy = socket.reconnectStrategy
      return new NodeRedisHints(
        client.duplicate({
          // It sleeps between attempts with a timer that keeps a process alive.
          socket: { ...socket, reconnectStrategy: false },
          disableOfflineQueue: true,
          pingInterval: undefined,
          readonly: false,
          commandOptions: {},
          clientSideCache: undefined,
          emitInvalidate: undefined,
        }),
        once,
      )
    },
    listener,
    (failures, cause) => userPauseMs(strategy, failures, cause) ?? pauseMs(failures),
  )
}

/** What the user's strategy says; undefined if nothing, or to give up. */
function userPauseMs(strategy: unknown, failures: number, cause: unknown): number | undefined {
  if (typeof strategy === 'number') return strategy
  if (typeof strategy !== 'function') return undefined
  try {
    const pause = (strategy as (failures: number, cause: unknown) => unknown)(failures, cause)
    return typeof pause === 'number' ? pause : undefined
  } catch {
    return undefined
  }
}

/** A connection that is used once. */
class NodeRedisHints implements HintConnection {
  readonly #subscriber: NodeRedisSubscriber
  readonly #listener: HintListener

  constructor(subscriber: NodeRedisSubscriber, listener: HintListener) {
    this.#subscriber = subscriber
    this.#listener = listener
    subscriber.on('error', listener.onDown)
    // It must not keep a process alive.
    subscriber.unref()
    subscriber.connect().then(listener.onReady, listener.onDown)
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#subscriber.subscribe(channel, (message, from) => this.#listener.onMessage(from, message))
  }

  ping(): Promise<unknown> {
    return this.#subscriber.ping()
  }

  renew(): void {
    this.close()
  }

  close(): void {
    if (this.#subscriber.isOpen) this.#subscriber.destroy()
  }
}
