import type { BeforeApplicationShutdown } from '@nestjs/common'
import { openGate, type FairQueueCore, type Gate, type GateOptions } from '@fairqueue/core/http'
import type { NestRequest } from './nestVisit.js'

/** Options of a line. Refusals are answered by Nest's exception filters, so there is no `handler` and no `message`. */
export type LineOptions = Omit<GateOptions<NestRequest>, 'name' | 'handler' | 'message'>

/** The lines of an application, by name. */
export class Lines implements BeforeApplicationShutdown {
  readonly #gates: ReadonlyMap<string, Gate<NestRequest>>

  /** @throws OptionError naming the option and what it got */
  constructor(defaults: LineOptions, lines: Readonly<Record<string, LineOptions>>) {
    this.#gates = new Map(
      // The handler's end is seen, so the place of who has left needs no grace.
      Object.entries(lines).map(([name, own]) => [name, openGate({ abortGraceMs: 0, ...defaults, ...own, name })]),
    )
  }

  /** @throws Error if there is no line of this name */
  gate(name: string): Gate<NestRequest> {
    const gate = this.#gates.get(name)
    if (gate === undefined)
      throw new Error(`There is no line ${JSON.stringify(name)}; there are ${this.names.join(', ')}.`)
    return gate
  }

  get names(): readonly string[] {
    return [...this.#gates.keys()]
  }

  /** For its `status()`, `configure()` and events. */
  queue(name: string): FairQueueCore {
    return this.gate(name).queue!
  }

  /** Before the server closes, because that waits for all requests: who waits gets a 503 with `Retry-After`, who runs may finish. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#gates.values()].map((gate) => gate.close({ graceMs: '10s' })))
  }
}
