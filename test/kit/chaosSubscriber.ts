import type { IoredisSubscriber } from '@fairqueue/core/redis'
import type { Redis } from 'ioredis'
import { breathe } from '@fairqueue/core/testing'
import type { Gate } from './gate.js'

/** What becomes of a hint. `hold`: until `releaseHints`. */
export type HintFate = 'deliver' | 'lose' | 'double' | 'hold'

type Listener = (channel: string, message: string) => void

/** A subscriber whose messages can be lost, doubled, held back and made up. */
export class ChaosSubscriber implements IoredisSubscriber {
  /** Decides about each hint as it arrives. */
  fate: (message: string) => HintFate = () => 'deliver'
  /** All that arrived, whatever became of it. */
  readonly messages: string[] = []
  readonly #real: Redis
  readonly #gate: Gate
  readonly #subscribe: (subscribe: () => Promise<unknown>) => Promise<unknown>
  readonly #listeners: Listener[] = []
  #channel = ''
  #held: string[] = []

  constructor(real: Redis, gate: Gate, subscribe: (subscribe: () => Promise<unknown>) => Promise<unknown>) {
    this.#real = real
    this.#gate = gate
    this.#subscribe = subscribe
    real.on('message', (channel: string, message: string) => {
      this.#channel = channel
      this.messages.push(message)
      const fate = this.fate(message)
      if (fate === 'hold') this.#held.push(message)
      else if (fate !== 'lose')
        for (let copies = fate === 'double' ? 2 : 1; copies > 0; copies -= 1) this.#deliver(message)
    })
  }

  get status(): string {
    return this.#real.status
  }

  get stream(): IoredisSubscriber['stream'] {
    return this.#real.stream
  }

  get channel(): string {
    return this.#channel
  }

  /** Delivers what was held, oldest first. */
  releaseHints(): void {
    const held = this.#held
    this.#held = []
    for (const message of held) this.#deliver(message)
  }

  /** A hint that nobody sent. */
  inject(message: string): void {
    this.#deliver(message)
  }

  /** Resolves when it is connected and all that was published up to now has arrived. */
  async caughtUp(): Promise<void> {
    while (this.#real.status === 'connecting' || this.#real.status === 'connect') await breathe()
    if (this.#real.status === 'ready') await this.#real.ping().catch(() => undefined)
  }

  connect(): Promise<void> {
    return this.#real.connect()
  }

  subscribe(channel: string): Promise<unknown> {
    this.#channel = channel
    return this.#subscribe(() => this.#real.subscribe(channel))
  }

  ping(): Promise<unknown> {
    return this.#real.ping()
  }

  disconnect(reconnect?: boolean): void {
    this.#real.disconnect(reconnect)
  }

  on(event: string, listener: (...details: never[]) => void): this {
    if (event === 'message') this.#listeners.push(listener as Listener)
    else this.#real.on(event, listener as (...details: unknown[]) => void)
    return this
  }

  #deliver(message: string): void {
    this.#gate.pass(() => {
      for (const listener of this.#listeners) listener(this.#channel, message)
    })
  }
}
