import { fetchInTurn, RefusedError } from '@fairqueue/client'

/** How many ended visits are remembered. */
const MOST_ENDED = 10

/** One visitor of one server, as the page shows them. */
export interface Visitor {
  readonly number: number
  readonly server: string
  /** `broken`: the connection broke before all of the answer had come. */
  state: 'asking' | 'waiting' | 'running' | 'served' | 'refused' | 'broken'
  /** In the line of all servers, as the visitor was told; null while it knows of none. */
  position: number | null
}

/** Visitors of the servers: clients as any other, each with a connection of its own. */
export class Visitors {
  readonly #present = new Set<Visitor>()
  readonly #ended: Visitor[] = []
  readonly #leaving = new AbortController()
  #count = 0

  /** How many are there. */
  get size(): number {
    return this.#present.size
  }

  /** Those who are there in the order in which they came, and the last who were. */
  get all(): readonly Visitor[] {
    return [...this.#ended, ...this.#present]
  }

  arrive(server: string, url: string): void {
    this.#count += 1
    void this.#visit({ number: this.#count, server, state: 'asking', position: null }, url)
  }

  /** All of them, for good. */
  leave(): void {
    this.#leaving.abort()
  }

  async #visit(visitor: Visitor, url: string): Promise<void> {
    this.#present.add(visitor)
    try {
      const response = await fetchInTurn(`${url}/work`, {
        // Who is not served is to be seen, so nobody comes back.
        retry: false,
        resume: false,
        signal: this.#leaving.signal,
        onQueue: ({ position }) => Object.assign(visitor, { state: 'waiting', position }),
      })
      Object.assign(visitor, { state: 'running', position: 0 })
      await response.text() // to the last byte
      visitor.state = 'served'
    } catch (error) {
      visitor.state = error instanceof RefusedError ? 'refused' : 'broken'
    }
    visitor.position = null
    this.#present.delete(visitor)
    this.#ended.push(visitor)
    if (this.#ended.length > MOST_ENDED) this.#ended.shift()
  }
}
