import type { IoredisClient, IoredisSubscriber } from '@fairqueue/core/redis'
import { virtualScript, virtualScriptOf, type VirtualScript } from '../kit/virtualScripts.js'

/** A call of a script on its way to the server. Its promise waits for the first answer that gets through. */
export interface Call {
  readonly from: Pipes
  readonly script: VirtualScript
  readonly how: 'evalsha' | 'eval'
  readonly keyCount: number
  readonly keysAndArguments: readonly (string | number)[]
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: Error) => void
}

/** What the server said to a call, on its way back. */
export interface Answer {
  readonly call: Call
  readonly reply: unknown
}

/**
 * One process' connections, as the product sees them: nothing that is sent in either direction arrives before the test moves it. Requests
 * and answers keep their order, as on a socket; hints travel on a socket of their own.
 */
export class Pipes implements IoredisClient {
  readonly requests: Call[] = []
  readonly answers: Answer[] = []
  readonly hints: string[] = []
  readonly options: { readonly keyPrefix?: string } = {}
  readonly #listeners = { ready: new Set<() => void>(), close: new Set<() => void>() }
  #subscribers: PipedSubscriber[] = []
  #connected = true
  /** The server's identity, as this process is told when it connects. */
  serverRun = 'run1'
  /** How the process' instance calls itself. */
  instance = ''

  /** Something is on its way. */
  get isBusy(): boolean {
    return this.requests.length + this.answers.length > 0
  }

  get status(): string {
    return this.#connected ? 'ready' : 'reconnecting'
  }

  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown> {
    return this.#send(virtualScript(sha1), 'evalsha', keyCount, keysAndArguments)
  }

  eval(lua: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown> {
    return this.#send(virtualScriptOf(lua), 'eval', keyCount, keysAndArguments)
  }

  info(): Promise<string> {
    return Promise.resolve(`run_id:${this.serverRun}\r\nuptime_in_seconds:1000000\r\n`)
  }

  duplicate(): IoredisSubscriber {
    const subscriber = new PipedSubscriber()
    this.#subscribers.push(subscriber)
    return subscriber
  }

  on(event: 'ready' | 'close', listener: () => void): this {
    this.#listeners[event].add(listener)
    return this
  }

  off(event: 'ready' | 'close', listener: () => void): this {
    this.#listeners[event].delete(listener)
    return this
  }

  /** Whether a channel is one that this process listens to. */
  hears(channel: string): boolean {
    return this.#subscribers.some((subscriber) => subscriber.channel === channel)
  }

  /** The oldest answer arrives. */
  answer(): void {
    const { call, reply } = this.answers.shift()!
    if (reply instanceof Error) call.reject(reply)
    else call.resolve(reply)
  }

  /** A hint arrives, also one that is not in the pipe. */
  hint(message: string): void {
    for (const subscriber of this.#subscribers) subscriber.receive(message)
  }

  /**
   * Both connections are cut. What is under way is in doubt: the client gives it up (`reject`), or sends it again when the connection is back
   * (`resend`), as ioredis does.
   */
  cut(how: 'reject' | 'resend'): void {
    if (!this.#connected) return
    this.#connected = false
    const unanswered = [...this.answers.splice(0).map(({ call }) => call), ...this.requests.splice(0)]
    this.hints.length = 0
    for (const listener of [...this.#listeners.close]) listener()
    for (const subscriber of this.#subscribers) subscriber.close()
    if (how === 'resend') this.requests.push(...unanswered)
    else for (const { reject } of unanswered) reject(new Error('Connection is closed.'))
  }

  mend(): void {
    if (this.#connected) return
    this.#connected = true
    for (const listener of [...this.#listeners.ready]) listener()
    for (const subscriber of this.#subscribers) subscriber.open()
  }

  #send(
    script: VirtualScript,
    how: Call['how'],
    keyCount: number,
    keysAndArguments: (string | number)[],
  ): Promise<unknown> {
    if (script.name === 'exchange') this.instance = String(keysAndArguments[keyCount])
    return new Promise((resolve, reject) => {
      this.requests.push({ from: this, script, how, keyCount, keysAndArguments, resolve, reject })
    })
  }
}

type Listener = (...details: string[]) => void

/** The product's end of the connection for hints. */
class PipedSubscriber implements IoredisSubscriber {
  channel: string | undefined
  status = 'wait'
  readonly #listeners = new Map<string, Listener[]>()
  #ended = false

  connect(): Promise<void> {
    this.open()
    return Promise.resolve()
  }

  subscribe(channel: string): Promise<unknown> {
    this.channel = channel
    return Promise.resolve(1)
  }

  ping(): Promise<unknown> {
    return Promise.resolve('PONG')
  }

  disconnect(): void {
    this.#ended = true
    this.close()
  }

  on(event: string, listener: (...details: never[]) => void): this {
    const listeners = this.#listeners.get(event) ?? []
    listeners.push(listener as Listener)
    this.#listeners.set(event, listeners)
    return this
  }

  open(): void {
    if (this.#ended) return
    this.status = 'ready'
    this.#emit('connect')
    this.#emit('ready')
  }

  close(): void {
    this.status = 'close'
    this.channel = undefined
    this.#emit('close')
  }

  receive(message: string): void {
    if (this.channel !== undefined) this.#emit('message', this.channel, message)
  }

  #emit(event: string, ...details: string[]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...details)
  }
}
