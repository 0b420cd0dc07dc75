import type { ConnectionWatcher, HintConnection, HintListener, RedisConnection } from './connection.js'
import type { ScriptArguments } from './scripts.generated.js'

/** What this library needs of a `Redis` of ioredis (5 or 6) or iovalkey. Typed by shape, so that both stay optional peers. */
export interface IoredisClient extends IoredisCommands {
  readonly options: { readonly keyPrefix?: string | undefined }
  info(section: string): Promise<string>
  duplicate(override: object): IoredisSubscriber
  on(event: 'ready' | 'close', listener: () => void): unknown
  off(event: 'ready' | 'close', listener: () => void): unknown
}

/** What `Redis` and `Cluster` have in common. */
export interface IoredisCommands {
  readonly status: string
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/** A connection of our own that listens for hints. */
export interface IoredisSubscriber {
  readonly status: string
  readonly stream?: { unref?(): unknown } | undefined
  connect(): Promise<void>
  subscribe(channel: string): Promise<unknown>
  ping(): Promise<unknown>
  disconnect(reconnect?: boolean): void
  on(event: 'connect' | 'ready' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
}

/** Commands by way of an ioredis client, `Redis` and `Cluster` alike. */
export abstract class IoredisWay<Client extends IoredisCommands> {
  readonly client: Client
  readonly keyPrefix: string

  constructor(client: Client, keyPrefix: string | undefined) {
    this.client = client
    this.keyPrefix = keyPrefix ?? ''
  }

  get ready(): boolean {
    return this.client.status === 'ready'
  }

  evalsha(sha1: string, list: ScriptArguments): Promise<unknown> {
    return this.client.evalsha(sha1, ...(list as [number]))
  }

  eval(lua: string, list: ScriptArguments): Promise<unknown> {
    return this.client.eval(lua, ...(list as [number]))
  }
}

/** A `Redis` of ioredis or iovalkey: one server, or one found by Sentinels. */
export class IoredisConnection extends IoredisWay<IoredisClient> implements RedisConnection {
  readonly spread = false

  constructor(client: IoredisClient) {
    super(client, client.options.keyPrefix)
  }

  info(): Promise<string> {
    return this.client.info('server')
  }

  watch({ onReady, onLost }: ConnectionWatcher): () => void {
    this.client.on('ready', onReady)
    this.client.on('close', onLost)
    // A lazy client connects with its first command.
    if (this.ready || this.client.status === 'wait') onReady()
    return () => {
      this.client.off('ready', onReady)
      this.client.off('close', onLost)
    }
  }

  listen(listener: HintListener): HintConnection {
    return new IoredisHints((override) => this.client.duplicate(override), listener)
  }
}

/** A derived connection. Credentials, TLS and retry strategy are the parent's; it is subscribed anew after each connection. */
export class IoredisHints implements HintConnection {
  readonly #subscriber: IoredisSubscriber
  #lastError: unknown

  constructor(duplicate: (override: object) => IoredisSubscriber, { onReady, onDown, onMessage }: HintListener) {
    const subscriber = duplicate({
      lazyConnect: true,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
      enableOfflineQueue: false,
      // Nothing is lost with it; ioredis' own two seconds would keep a process alive.
      disconnectTimeout: 0,
    })
    this.#subscriber = subscriber
    subscriber.on('error', (error) => {
      this.#lastError = error
    })
    subscriber.on('connect', () => {
      // It must not keep a process alive.
      subscriber.stream?.unref?.()
    })
    subscriber.on('ready', onReady)
    subscriber.on('close', () => onDown(this.#lastError))
    subscriber.on('message', onMessage)
    subscriber.connect().catch(onDown)
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#subscriber.subscribe(channel)
  }

  ping(): Promise<unknown> {
    return this.#subscriber.ping()
  }

  renew(): void {
    this.#subscriber.disconnect(true)
  }

  close(): void {
    this.#subscriber.disconnect()
  }
}
