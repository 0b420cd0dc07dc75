/**
 * Typed events that never throw, whoever listens: a listener's exception is handed to `onListenerError` and the others still run.
 * (Node's own emitter stops at the first throwing listener and throws by itself for an unheard `'error'`.)
 */
export class Events<Payloads extends object> {
  readonly #listeners = new Map<keyof Payloads, Set<(payload: never) => void>>()
  readonly #onListenerError: (error: unknown) => void

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError
  }

  on<Name extends keyof Payloads>(name: Name, listener: (payload: Payloads[Name]) => void): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) this.#listeners.set(name, new Set([listener]))
    else listeners.add(listener)
  }

  off<Name extends keyof Payloads>(name: Name, listener: (payload: Payloads[Name]) => void): void {
    const listeners = this.#listeners.get(name)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(name)
  }

  /** Whether anybody listens; lets hot paths skip the making of a payload. */
  heard(name: keyof Payloads): boolean {
    return this.#listeners.has(name)
  }

  emit<Name extends keyof Payloads>(name: Name, payload: Payloads[Name]): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined) return
    for (const listener of [...listeners]) {
      try {
        ;(listener as (payload: Payloads[Name]) => void)(payload)
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }
}
