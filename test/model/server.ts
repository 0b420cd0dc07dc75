import { composeScript } from '@fairqueue/scripts/build-lua'
import type { Redis } from 'ioredis'
import type { TestRedis } from '../kit/clients.js'
import { virtualScript } from '../kit/virtualScripts.js'
import type { Call } from './pipes.js'

const names = ['exchange', 'rejoin', 'configure', 'status'] as const
const scripts = new Map(
  names.map((name) => {
    const { sha1, header } = composeScript(name)
    const argumentNames = header.args.map((argument) => argument.name)
    return [name, { script: virtualScript(sha1), keyNames: header.keys.map((each) => each.name), argumentNames }]
  }),
)

const KEYS = ['waiting', 'running', 'instances', 'aside', 'state', 'parked', 'keyed'] as const

/** One of the keys of the queue. */
export type KeyName = (typeof KEYS)[number]

/** The queue that all processes of a test share. */
export const QUEUE = 'q'

function keyOf(name: KeyName): string {
  return `fairqueue:{${QUEUE}}:${name}`
}

/** A member text of the line or of the running set. */
export interface Member {
  readonly text: string
  readonly number: number
  readonly instance: string
  readonly permits: number
  /** What the test calls the ticket; its key where the test does not know it. */
  readonly name: string
  /** The ticket's key. */
  readonly key: string
}

/** What the store holds. */
export interface Snapshot {
  /** The line. */
  readonly waiting: readonly Member[]
  /** Whose client has gone. */
  readonly aside: readonly Member[]
  /** Who is parked because its key is at its cap. */
  readonly parked: readonly Member[]
  readonly running: readonly Member[]
  readonly instances: ReadonlySet<string>
  /** Empty where there is no state. */
  readonly epoch: string
  readonly limit: number
  /** The cap of each key. */
  readonly keyLimit: number
  readonly leaseMs: number
}

/** What a call did. */
export interface Executed {
  readonly call: Call
  readonly reply: unknown
  /** Channel and message, in the order of publishing. */
  readonly hints: readonly (readonly [channel: string, message: string])[]
  readonly before: Snapshot
  readonly after: Snapshot
}

/** The named arguments of a call, and what follows them. */
export function argumentsOf({ script, keyCount, keysAndArguments }: Call): {
  named: Record<string, string>
  rest: string[]
} {
  const values = keysAndArguments.slice(keyCount).map(String)
  const { argumentNames } = scripts.get(script.name)!
  const named = Object.fromEntries(argumentNames.map((name, index) => [name, values[index] ?? '']))
  const [epoch = '', run = ''] = named['standing']?.split(' ') ?? []
  return { named: { ...named, epoch, run }, rest: values.slice(argumentNames.length) }
}

/** What every call is answered first: a word and the epoch; what an exchange is told beside. */
export interface ReplyHead {
  readonly word: string
  readonly epoch: string
  readonly kept: string
  readonly graceMs: number
}

/** Reads a reply of `exchange` or `rejoin`. */
export function replyHeadOf(call: Call, reply: unknown): ReplyHead {
  const [word = '', epoch = '', kept = '', , graceMs] = (reply as (string | number)[]).map(String)
  if (word === 'same') return { word: 'ok', epoch: argumentsOf(call).named['epoch']!, kept: epoch, graceMs: 0 }
  return { word, epoch, kept, graceMs: Number(graceMs ?? 0) }
}

/** Reads a member text; undefined for a sentinel. */
export function readMember(text: string, nameOf: NameOf): Member | undefined {
  const [number, instance, ticket, permits, key = ''] = text.split(':')
  if (number === undefined || instance === undefined || ticket === undefined || permits === undefined) return undefined
  return {
    text,
    number: Number(number),
    instance,
    permits: Number(permits),
    key,
    name: nameOf(instance, ticket) ?? key,
  }
}

/** What the test calls an instance's ticket. */
export type NameOf = (instance: string, ticket: string) => string | undefined

/** A real Redis that does one thing at a time, at a time that the test sets. */
export class ModelServer {
  snapshot!: Snapshot
  /** By default the tests give each ticket a key of its own, and call it by that. */
  nameOf: NameOf = () => undefined
  readonly #redis: TestRedis
  #real!: Redis
  #subscriber!: Redis
  #published: [channel: string, message: string][] = []
  #scriptsFlushed = true
  #calls = 0

  constructor(redis: TestRedis) {
    this.#redis = redis
  }

  /** Empty, with all scripts loaded. */
  async start(): Promise<void> {
    if (this.#real === undefined) {
      this.#real = this.#redis.client()
      this.#subscriber = this.#redis.client()
      this.#subscriber.on('pmessage', (_pattern: string, channel: string, message: string) => {
        this.#published.push([channel, message])
      })
      await this.#subscriber.psubscribe('*')
    }
    await this.#real.flushall()
    this.#calls = 0
    if (this.#scriptsFlushed) {
      for (const { script } of scripts.values()) await this.#real.script('LOAD', script.lua)
      this.#scriptsFlushed = false
    }
    await this.look()
  }

  /** `serverMs` is its wall clock. */
  async execute(call: Call, serverMs: number): Promise<Executed> {
    const { snapshot: before } = this
    const reply = await this.#run(call, serverMs)
    // Whoever reads all this must have all that was published before.
    await this.#subscriber.ping()
    const hints = this.#published.toSorted(([a], [b]) => (a < b ? -1 : 1))
    this.#published = []
    return { call, reply, hints, before, after: this.snapshot }
  }

  /** How many of the keys there were. */
  async flushAll(): Promise<{ before: number }> {
    const before = await this.#real.exists(...KEYS.map(keyOf))
    await this.#real.flushall()
    await this.look()
    return { before }
  }

  /** Whether there was such a key, and whether nothing is left that shows that memory was lost. */
  async delete(name: KeyName): Promise<{ existed: boolean; everything: boolean }> {
    const existed = (await this.#real.del(keyOf(name))) === 1
    await this.look()
    const left = await this.#real.exists(...KEYS.filter((other) => other !== 'keyed').map(keyOf))
    return { existed, everything: left === 0 }
  }

  async flushScripts(): Promise<void> {
    await this.#real.script('FLUSH')
    this.#scriptsFlushed = true
  }

  /** All keys as they are now; `restore` puts them back, as a restart from an old dump does. */
  async dump(): Promise<() => Promise<void>> {
    const dumps = await Promise.all(
      KEYS.map(async (name) => [keyOf(name), await this.#real.dumpBuffer(keyOf(name))] as const),
    )
    return async () => {
      await this.#real.flushall()
      for (const [name, dump] of dumps) if (dump !== null) await this.#real.restore(name, 0, dump)
      await this.look()
    }
  }

  /** When a key expires, by the server's time. */
  async expiresAtMs(name: KeyName): Promise<number> {
    return Number(await this.#real.call('PEXPIRETIME', keyOf(name)))
  }

  /** For what the model does not look at: a raw command. */
  async command(name: string, ...rest: (string | number)[]): Promise<unknown> {
    const reply: unknown = await this.#real.call(name, ...rest)
    await this.look()
    return reply
  }

  async #run({ script, how, keyCount, keysAndArguments }: Call, serverMs: number): Promise<unknown> {
    // No two calls are executed in the same microsecond.
    this.#calls += 1
    const serverUs = (Math.floor(serverMs) * 1000 + (this.#calls % 1000)).toFixed(0)
    const rest = [keyCount, ...keysAndArguments, serverUs] as const
    const batch = this.#real.pipeline()
    if (how === 'evalsha') batch.evalsha(script.sha1, ...rest)
    else batch.eval(script.lua, ...rest)
    const [outcome, ...looks] = (await this.#look(batch))!
    this.#readLook(looks)
    return outcome![0] ?? outcome![1]
  }

  async look(): Promise<void> {
    this.#readLook((await this.#look(this.#real.pipeline()))!)
  }

  #look(batch: ReturnType<Redis['pipeline']>): Promise<[error: Error | null, result: unknown][] | null> {
    const { script, keyNames } = scripts.get('status')!
    return batch
      .zrange(keyOf('waiting'), '0', '-1')
      .zrange(keyOf('running'), '0', '-1')
      .zrange(keyOf('instances'), '0', '-1')
      .zrange(keyOf('parked'), '0', '-1')
      .zrange(keyOf('aside'), '0', '-1')
      .eval(script.lua, keyNames.length, ...keyNames.map((name) => keyOf(name as KeyName)), '0')
      .exec()
  }

  #readLook(looks: [error: Error | null, result: unknown][]): void {
    const [waiting, running, instances, parked, aside, status] = looks.map(([error, value]) => {
      if (error !== null) throw error
      return value
    }) as [string[], string[], string[], string[], string[], string[]]
    const news = (status[6] ? JSON.parse(status[6]) : {}) as {
      inForce?: { concurrency: string; leaseMs: string; perKey: string }
    }
    const read = (members: string[]): Member[] =>
      members.map((text) => readMember(text, this.nameOf)).filter((member) => member !== undefined)
    const [keyLimit = 'inf'] = news.inForce?.perKey.split(' ') ?? []
    this.snapshot = {
      waiting: read(waiting),
      parked: read(parked),
      aside: read(aside),
      running: read(running),
      instances: new Set(instances.filter((id) => id !== '~')),
      epoch: status[0] === '0' ? '' : (status[0] ?? ''),
      limit: Number(news.inForce?.concurrency ?? 0),
      keyLimit: keyLimit === 'inf' ? Infinity : Number(keyLimit),
      leaseMs: Number(news.inForce?.leaseMs ?? 0),
    }
  }
}
