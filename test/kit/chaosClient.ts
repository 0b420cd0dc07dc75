import type { IoredisClient, IoredisSubscriber } from '@fairqueue/core/redis'
import type { Redis } from 'ioredis'
import { ChaosSubscriber } from './chaosSubscriber.js'
import { breathe } from '@fairqueue/core/testing'
import { Gate } from './gate.js'
import { virtualScript, virtualScriptOf, type VirtualScript } from './virtualScripts.js'

/**
 * What becomes of a call to the store:
 * - `deliver`: executed and answered
 * - `loseReply`: executed; the caller gets an error, as if the connection had been cut
 * - `fail`: never executed; the caller gets that error
 * - `resend`: executed twice; the caller gets the second answer, as from a library that resends what was not answered
 * - `repeat`: executed and answered now; a copy of it is executed when released
 * - `swallow`: never executed, never answered
 * - `hold`: executed only when released
 * - `holdReply`: executed now, answered when released
 * - `{ answer }`: never executed; the caller gets that
 */
export type CallFate =
  | 'deliver'
  | 'loseReply'
  | 'fail'
  | 'resend'
  | 'repeat'
  | 'swallow'
  | 'hold'
  | 'holdReply'
  | { readonly answer: unknown }

/** What becomes of an attempt to subscribe. */
export type SubscribeFate = 'deliver' | 'hold' | 'refuse'

/** A call of one of the product's scripts. */
export interface ScriptCall {
  readonly name: VirtualScript['name']
  readonly how: 'evalsha' | 'eval'
  readonly keysAndArguments: readonly (string | number)[]
}

/** Options of {@link ChaosClient}. */
export interface ChaosOptions {
  /** The server's time in milliseconds, read when a call is executed. Default: the server's own. */
  readonly serverMs?: (() => number) | undefined
}

/** An ioredis client between the product and a real Redis, on which everything that goes wrong can be made to go wrong. */
export class ChaosClient implements IoredisClient {
  /** Decides about each call as it is made. */
  fate: (call: ScriptCall) => CallFate = () => 'deliver'
  /** Every call of a script, in order, whatever became of it. */
  readonly calls: ScriptCall[] = []
  /** Decides about each attempt to subscribe; `hold`: until `releaseCalls`, `refuse`: as without the right to. */
  subscribeFate: () => SubscribeFate = () => 'deliver'
  readonly subscribers: ChaosSubscriber[] = []
  readonly #real: Redis
  readonly #serverMs: (() => number) | undefined
  readonly #gate = new Gate()
  #fault: Error | undefined
  #held: (() => void)[] = []
  #underWay = 0

  constructor(real: Redis, { serverMs }: ChaosOptions = {}) {
    this.#real = real
    this.#serverMs = serverMs
  }

  get status(): string {
    return this.#real.status
  }

  get options(): IoredisClient['options'] {
    return this.#real.options
  }

  /** Where the product listens for hints; it opens one subscriber at a time. */
  get subscriber(): ChaosSubscriber {
    const last = this.subscribers.at(-1)
    if (last === undefined) throw new Error('Nothing listens for hints yet.')
    return last
  }

  /** How many calls are held back now. */
  get heldCalls(): number {
    return this.#held.length
  }

  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown> {
    const script = this.#found(() => virtualScript(sha1))
    const call: ScriptCall = { name: script.name, how: 'evalsha', keysAndArguments }
    return this.#call(call, () =>
      this.#serverMs === undefined
        ? this.#real.evalsha(sha1, keyCount, ...keysAndArguments)
        : this.#real.evalsha(script.sha1, keyCount, ...keysAndArguments, this.#serverUs()),
    )
  }

  eval(lua: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown> {
    const script = this.#found(() => virtualScriptOf(lua))
    const call: ScriptCall = { name: script.name, how: 'eval', keysAndArguments }
    return this.#call(call, () =>
      this.#serverMs === undefined
        ? this.#real.eval(lua, keyCount, ...keysAndArguments)
        : this.#real.eval(script.lua, keyCount, ...keysAndArguments, this.#serverUs()),
    )
  }

  info(section: string): Promise<string> {
    return this.#heard(this.#execute(() => this.#real.info(section)))
  }

  duplicate(override: object): IoredisSubscriber {
    const subscriber = new ChaosSubscriber(this.#real.duplicate(override), this.#gate, async (subscribe) => {
      const fate = this.subscribeFate()
      if (fate === 'refuse') throw new Error("NOPERM this user has no permissions to run the 'subscribe' command")
      if (fate === 'hold') await this.#released()
      return await subscribe()
    })
    this.subscribers.push(subscriber)
    return subscriber
  }

  on(event: 'ready' | 'close', listener: () => void): this {
    this.#real.on(event, listener)
    return this
  }

  off(event: 'ready' | 'close', listener: () => void): this {
    this.#real.off(event, listener)
    return this
  }

  /** Of the client underneath. */
  listenerCount(event: string): number {
    return this.#real.listenerCount(event)
  }

  /** Lets go what is held back, oldest first. */
  releaseCalls(): void {
    const held = this.#held
    this.#held = []
    for (const release of held) release()
  }

  /** The process hears nothing more: neither answers nor hints, until `wake`. What it has sent is executed. */
  stall(): void {
    this.#gate.close()
  }

  /** All that it did not hear reaches it now, in order. */
  wake(): void {
    this.#gate.open()
  }

  /** Resolves when no call is under way and every hint has arrived; held and swallowed ones are not waited for. */
  async settled(): Promise<void> {
    // Twice quiet, since what was just heard may have set something going.
    for (let quiet = 0; quiet < 2;) {
      if (this.#fault !== undefined) throw this.#fault
      const before = this.calls.length
      await breathe()
      await Promise.all(this.subscribers.map((subscriber) => subscriber.caughtUp()))
      await breathe()
      quiet = this.#underWay === 0 && this.calls.length === before ? quiet + 1 : 0
    }
  }

  /** A fault of the kit must not pass for one of the connection. */
  #found(find: () => VirtualScript): VirtualScript {
    try {
      return find()
    } catch (error) {
      this.#fault = error as Error
      throw error
    }
  }

  #serverUs(): string {
    return (this.#serverMs!() * 1000).toFixed(0)
  }

  #call(call: ScriptCall, execute: () => Promise<unknown>): Promise<unknown> {
    this.calls.push(call)
    const fate = this.fate(call)
    if (typeof fate === 'object') return this.#heard(Promise.resolve(fate.answer))
    switch (fate) {
      case 'deliver':
        return this.#heard(this.#execute(execute))
      case 'loseReply':
        return this.#heard(this.#execute(execute).then(cut, cut))
      case 'fail':
        return this.#heard(Promise.resolve().then(cut))
      case 'resend':
        return this.#heard(
          this.#execute(async () => {
            const first = execute()
            const second = execute()
            await first
            return await second
          }),
        )
      case 'repeat':
        void this.#released().then(() => this.#execute(execute))
        return this.#heard(this.#execute(execute))
      case 'swallow':
        return new Promise(() => undefined)
      case 'hold':
        return this.#heard(this.#released().then(() => this.#execute(execute)))
      case 'holdReply': {
        const reply = this.#execute(execute)
        reply.catch(() => undefined)
        return this.#heard(this.#released().then(() => reply))
      }
    }
  }

  #released(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve))
  }

  async #execute<Reply>(execute: () => Promise<Reply>): Promise<Reply> {
    this.#underWay += 1
    try {
      return await execute()
    } finally {
      this.#underWay -= 1
    }
  }

  #heard<Reply>(reply: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      reply.then(
        (value) => this.#gate.pass(() => resolve(value)),
        (error: Error) => this.#gate.pass(() => reject(error)),
      )
    })
  }
}

function cut(): never {
  throw new Error('Connection is closed.')
}
