import { systemClock } from '../base/clock.js'
import { OptionError } from '../base/errors.js'
import { optionError, refuseUnknown } from '../base/options.js'
import { randomId } from '../base/randomId.js'
import type { Instance, JoinOptions, Store } from '../store/contract.js'
import type { ExchangerListener } from '../store/exchanger.js'
import { RemoteInstance } from '../store/remoteInstance.js'
import type { RedisClient } from './client.js'
import { queueKeys } from './keys.js'
import { RedisExchanger } from './redisExchanger.js'
import { RedisLink } from './redisLink.js'
import { readList } from './replies.js'
import { WakeChannel } from './wakeChannel.js'

/** Options of {@link RedisStore}. */
export interface RedisStoreOptions {
  /** An ioredis client (5 or 6). It stays the caller's: never closed, never switched to subscriber mode. */
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
  readonly #client: RedisClient
  readonly #prefix: string
  readonly #id = randomId()
  readonly #link: RedisLink
  readonly #queues = new Map<string, ExchangerListener>()
  #count = 0
  #wakeChannel: WakeChannel | undefined
  /** Why no hints arrive; undefined while they do. */
  #wakeFailure: { readonly cause: unknown } | undefined

  /** @throws OptionError */
  constructor(options: RedisStoreOptions) {
    refuseUnknown(options, new Set(['redis', 'prefix']))
    const { redis, prefix = 'fairqueue' } = options
    if (typeof redis?.evalsha !== 'function' || typeof redis.duplicate !== 'function') {
      throw new OptionError('redis', 'Option "redis" must be an ioredis client.')
    }
    if (typeof prefix !== 'string' || !PREFIX.test(prefix))
      throw optionError('prefix', 'a text of letters, digits and ".:_-"', prefix)
    this.#client = redis
    this.#prefix = prefix
    this.#link = new RedisLink(redis, prefix, () => {
      for (const queue of this.#queues.values()) queue.onReady()
    })
  }

  join(options: JoinOptions): Instance {
    this.#count += 1
    const id = `${this.#id}.${this.#count.toString(36)}`
    return new RemoteInstance(options, (listener) => {
      this.#queues.set(id, listener)
      if (this.#queues.size === 1) this.#open()
      const exchanger = new RedisExchanger(id, this.#link, queueKeys(this.#prefix, options.name), options, () =>
        this.#leave(id),
      )
      process.nextTick(() => {
        if (this.#link.ready) listener.onReady()
        if (this.#wakeFailure !== undefined) listener.onWakeChannel(false, this.#wakeFailure.cause)
      })
      return exchanger
    })
  }

  /** Ends the connection for hints. The client stays open: it is the caller's. */
  async close(): Promise<void> {
    this.#queues.clear()
    this.#shut()
  }

  #leave(id: string): void {
    if (this.#queues.delete(id) && this.#queues.size === 0) this.#shut()
  }

  #open(): void {
    this.#link.open()
    this.#wakeChannel = new WakeChannel(this.#client, `${this.#link.channelPrefix}${this.#id}`, systemClock, {
      onMessage: (message) => this.#onMessage(message),
      onChanged: (open, cause) => {
        this.#wakeFailure = open ? undefined : { cause }
        for (const queue of this.#queues.values()) queue.onWakeChannel(open, cause)
      },
    })
  }

  #shut(): void {
    this.#wakeChannel?.close()
    this.#wakeChannel = undefined
    this.#link.close()
  }

  /** A hint: `instance epoch grants`. Anything else on the channel is ignored. */
  #onMessage(message: string): void {
    const [instance = '', epoch, grants] = message.split(' ')
    if (epoch === undefined || grants === undefined) return
    this.#queues.get(instance)?.onHint(epoch, readList(grants, ','))
  }
}
