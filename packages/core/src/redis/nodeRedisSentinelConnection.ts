import type { ConnectionWatcher, HintConnection, HintListener, RedisConnection } from './connection.js'
import { infoByScript } from './infoByScript.js'
import { NodeRedisWay, type NodeRedisCommands } from './nodeRedisConnection.js'

type SentinelEvent = 'ready' | 'reconnecting' | 'end'

/** What this library needs of what `createSentinel()` of node-redis 6 makes. */
export interface NodeRedisSentinel extends NodeRedisCommands {
  readonly isReady: boolean
  readonly _keyPrefix?: unknown
  getMasterNode(): unknown
  withTypeMapping(mapping: object): NodeRedisCommands
  subscribe(channel: string, listener: HintCallback): Promise<unknown>
  unsubscribe(channel: string, listener: HintCallback): Promise<unknown>
  on(event: SentinelEvent, listener: () => void): unknown
  off(event: SentinelEvent, listener: () => void): unknown
}

type HintCallback = (message: string, channel: string) => void

/** What `createSentinel()` of node-redis has made: the master of the hour. */
export class NodeRedisSentinelConnection extends NodeRedisWay implements RedisConnection {
  readonly spread = false
  readonly #sentinel: NodeRedisSentinel

  constructor(sentinel: NodeRedisSentinel) {
    // oxlint-disable-next-line no-underscore-dangle -- the only place where it can be read
    super(sentinel.withTypeMapping({}), sentinel._keyPrefix)
    this.#sentinel = sentinel
  }

  get ready(): boolean {
    return this.#sentinel.isReady
  }

  info(key: string): Promise<string> {
    return infoByScript(this, key)
  }

  watch({ onReady, onLost }: ConnectionWatcher): () => void {
    const sentinel = this.#sentinel
    sentinel.on('ready', onReady)
    sentinel.on('reconnecting', onLost)
    sentinel.on('end', onLost)
    if (this.ready) onReady()
    return () => {
      sentinel.off('ready', onReady)
      sentinel.off('reconnecting', onLost)
      sentinel.off('end', onLost)
    }
  }

  /** By the connection that it keeps for messages beside those for commands, since its options are not to be had. */
  listen(listener: HintListener): HintConnection {
    return new SentinelHints(this.#sentinel, this, listener)
  }
}

/** It subscribes anew by itself when the master has changed; each time it is ready again something may have been missed. */
class SentinelHints implements HintConnection {
  readonly #sentinel: NodeRedisSentinel
  readonly #callback: HintCallback
  readonly #unwatch: () => void
  readonly #channels = new Set<string>()

  constructor(sentinel: NodeRedisSentinel, connection: RedisConnection, listener: HintListener) {
    this.#sentinel = sentinel
    this.#callback = (message, channel) => listener.onMessage(channel, message)
    this.#unwatch = connection.watch({
      onReady: listener.onReady,
      onLost: () => listener.onDown(new Error('The Sentinels look for the master.')),
    })
  }

  async subscribe(channel: string): Promise<void> {
    if (this.#channels.has(channel)) return
    await this.#sentinel.subscribe(channel, this.#callback)
    this.#channels.add(channel)
  }

  /** That connection takes no commands of ours. */
  ping(): Promise<void> {
    return Promise.resolve()
  }

  renew(): void {}

  close(): void {
    this.#unwatch()
    for (const channel of this.#channels) this.#sentinel.unsubscribe(channel, this.#callback).catch(() => undefined)
  }
}
