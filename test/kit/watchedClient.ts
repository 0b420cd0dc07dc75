import { createHash } from 'node:crypto'
import type { RedisClient } from '@fairqueue/core/redis'
import { breathe } from '@fairqueue/core/testing'
import { virtualScript, virtualScriptOf } from './virtualScripts.js'

// oxlint-disable-next-line typescript/no-explicit-any -- clients of any library
type Method = (...args: any[]) => any

interface Subscriber {
  ping(): Promise<unknown>
}

/** A client of any library, handed to the product as it is, but for a clock in its scripts and for an eye on what is under way. */
export class WatchedClient {
  /** What the product is given. */
  readonly redis: RedisClient
  readonly calls: unknown[] = []
  readonly #serverMs: () => number
  readonly #subscribers: Subscriber[] = []
  #underWay = 0

  /** `serverMs` is the server's time in milliseconds, read at each call. */
  constructor(client: RedisClient, serverMs: () => number) {
    this.#serverMs = serverMs
    this.redis = this.#watched(client)
  }

  /** Resolves when no call is under way and every hint has arrived. */
  async settled(): Promise<void> {
    // Twice quiet, since what was just heard may have set something going.
    for (let quiet = 0; quiet < 2;) {
      const before = this.calls.length
      await breathe()
      // One that is not connected has nothing to tell.
      await Promise.all(this.#subscribers.map((subscriber) => subscriber.ping().catch(() => undefined)))
      await breathe()
      quiet = this.#underWay === 0 && this.calls.length === before ? quiet + 1 : 0
    }
  }

  #watched<Client extends object>(client: Client): Client {
    return seen(client, {
      evalsha:
        (run) =>
        (sha1: string, keyCount: number, ...rest: unknown[]) =>
          this.#call(() => run(virtualScript(sha1).sha1, keyCount, ...rest, this.#serverUs())),
      evalSha: (run) => (sha1: string, options: { arguments: string[] }) =>
        this.#call(() => run(virtualScript(sha1).sha1, this.#withTime(options))),
      eval:
        (run) =>
        (lua: string, ...rest: unknown[]) =>
          this.#call(() => {
            if (!isProduct(lua)) return run(lua, ...rest)
            const [options] = rest
            return typeof options === 'number'
              ? run(virtualScriptOf(lua).lua, ...rest, this.#serverUs())
              : run(virtualScriptOf(lua).lua, this.#withTime(options as { arguments: string[] }))
          }),
      withTypeMapping:
        (map) =>
        (...args) =>
          this.#watched(map(...args) as object),
      duplicate:
        (duplicate) =>
        (...args) => {
          const subscriber = duplicate(...args) as Subscriber
          this.#subscribers.push(subscriber)
          // Until it listens, hints are lost on it.
          return seen(subscriber, { connect: this.#counted, subscribe: this.#counted })
        },
      info: this.#counted,
      nodes:
        (nodes) =>
        (...args) =>
          (nodes(...args) as object[]).map((node) => this.#watched(node)),
    })
  }

  #withTime(options: { arguments: string[] }): object {
    return { ...options, arguments: [...options.arguments, this.#serverUs()] }
  }

  #serverUs(): string {
    return (this.#serverMs() * 1000).toFixed(0)
  }

  readonly #counted =
    (run: Method): Method =>
    (...args) =>
      this.#call(() => run(...args) as Promise<unknown>)

  async #call(call: () => Promise<unknown>): Promise<unknown> {
    this.calls.push(call)
    this.#underWay += 1
    try {
      return await call()
    } finally {
      this.#underWay -= 1
    }
  }
}

/** The same object, with some methods put in between. */
function seen<Target extends object>(target: Target, between: Record<string, (method: Method) => Method>): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (name === 'masters' || name === 'replicas')
        return (value as { client?: object }[]).map(({ client }) => ({ client: client && seen(client, between) }))
      if (typeof value !== 'function') return value
      const method = (value as Method).bind(target)
      return typeof name === 'string' && Object.hasOwn(between, name) ? between[name]!(method) : method
    },
  })
}

function isProduct(lua: string): boolean {
  try {
    virtualScript(createHash('sha1').update(lua).digest('hex'))
    return true
  } catch {
    return false
  }
}
