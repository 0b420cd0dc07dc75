import { systemClock } from '../base/clock.js'
import { optionError, refuseUnknown } from '../base/options.js'
import { randomId } from '../base/randomId.js'
import type { Instance, JoinOptions, Store } from '../store/contract.js'
import type { ExchangerListener } from '../store/exchanger.js'
import { RemoteInstance } from '../store/remoteInstance.js'
import { connectionOf, type RedisClient } from './client.js'
import type { RedisConnection } from './connection.js'
import { queueKeys } from './keys.js'
import { RedisExchanger } from './redisExchanger.js'
import { RedisLink } from './redisLink.js'
import { readList } from './replies.js'
import { Scripts } from './scripts.js'
import { WakeChannel } from './wakeChannel.js'

/** Options of {@link RedisStore}. */
export interface RedisStoreOptions {
  /**
   * A client of ioredis 5 or 6, iovalkey or node-redis 6, for one server, for Sentinels or for a Cluster. It stays the caller's: never connected
   * (but a lazy one of ioredis), never closed, never switched to subscriber mode.
   */
  readonly redis: RedisClient
  /** How all keys and channels begin, behind the client's own `keyPrefix`. Letters, digits and `.:_-`; default `fairqueue`. */
  readonly prefix?: string
}

const PREFIX = /^[A-Za-z0-9.:_-]+$/

/**
 * Lines in Redis, shared by all processes that use the same Redis and prefix. One connection for hints is opened with the first queue
 * and closed with the last, or by `close()`.
 */
export class RedisStore implements Store {
  readonly kind = 'redis'
  readonly #connection: RedisConnection
  readonly #prefix: string
  readonly #id = randomId()
  readonly #scripts: Scripts
  readonly #channelPrefix: string
  /** Of all queues, unless their keys are spread. */
  readonly #sharedLink: RedisLink | null
  readonly #queues = new Map<string, { readonly listener: ExchangerListener; readonly link: RedisLink }>()
  #count = 0
  #unwatch: (() => void) | undefined
  #wakeChannel: WakeChannel | undefined
  /** Why no hints arrive; undefined while they do. */
  #wakeFailure: { readonly cause: unknown } | undefined

  /** @throws OptionError */
  constructor(options: RedisStoreOptions) {
    refuseUnknown(options, new Set(['redis', 'prefix']))
    const { redis, prefix = 'fairqueue' } = options
    if (typeof prefix !== 'string' || !PREFIX.test(prefix))
      throw optionError('prefix', 'a text of letters, digits and ".:_-"', prefix)
    this.#connection = connectionOf(redis)
    this.#prefix = prefix
    this.#scripts = new Scripts(this.#connection)
    // The client's own prefix is applied to keys only.
    this.#channelPrefix = `${this.#connection.keyPrefix}${prefix}:wake:`
    this.#sharedLink = this.#connection.spread
      ? null
      : new RedisLink(this.#connection, `${prefix}:server`, () => {
          for (const { listener } of this.#queues.values()) listener.onReady()
        })
  }

  join(options: JoinOptions): Instance {
    this.#count += 1
    const id = `${this.#id}.${this.#count.toString(36)}`
    const keys = queueKeys(this.#prefix, options.name)
    return new RemoteInstance(options, (listener) => {
      const link = this.#sharedLink ?? new RedisLink(this.#connection, keys.state, () => listener.onReady())
      this.#queues.set(id, { listener, link })
      if (this.#queues.size === 1) this.#open()
      else if (link !== this.#sharedLink && this.#connection.ready) link.identify()
      process.nextTick(() => {
        if (link.ready) listener.onReady()
        if (this.#wakeFailure !== undefined) listener.onWakeChannel(false, this.#wakeFailure.cause)
      })
      const way = { scripts: this.#scripts, link, channelPrefix: this.#channelPrefix }
      return new RedisExchanger(id, way, keys, options, () => this.#leave(id))
    })
  }

  /** Ends the connection for hints. The client stays open: it is the caller's. */
  async close(): Promise<void> {
    this.#shut()
    this.#queues.clear()
  }

  #leave(id: string): void {
    const queue = this.#queues.get(id)
    if (queue === undefined) return
    if (this.#queues.size === 1) this.#shut()
    else if (queue.link !== this.#sharedLink) queue.link.lose()
    this.#queues.delete(id)
  }

  #open(): void {
    this.#unwatch = this.#connection.watch({
      onReady: () => this.#eachLink((link) => link.identify()),
      onLost: () => this.#eachLink((link) => link.lose()),
    })
    this.#wakeChannel = new WakeChannel(this.#connection, `${this.#channelPrefix}${this.#id}`, systemClock, {
      onMessage: (message) => this.#onMessage(message),
      onChanged: (open, cause) => {
        this.#wakeFailure = open ? undefined : { cause }
        for (const { listener } of this.#queues.values()) listener.onWakeChannel(open, cause)
      },
    })
  }

  #shut(): void {
    this.#wakeChannel?.close()
    this.#wakeChannel = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#eachLink((link) => link.lose())
  }

  #eachLink(act: (link: RedisLink) => void): void {
    if (this.#sharedLink !== null) act(this.#sharedLink)
    else for (const { link } of this.#queues.values()) act(link)
  }

  /** A hint: `instance epoch grants`. Anything else on the channel is ignored. */
  #onMessage(message: string): void {
    const [instance = '', epoch, grants] = message.split(' ')
    if (epoch === undefined || grants === undefined) return
    this.#queues.get(instance)?.listener.onHint(epoch, readList(grants, ','))
  }
}
