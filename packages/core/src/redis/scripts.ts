import type { RedisConnection } from './connection.js'
import type { Script, ScriptArguments } from './scripts.generated.js'

/**
 * Runs scripts by their hash. Only NOSCRIPT falls back to the text, and only once for all who meet it at the same time, so that a flushed
 * script cache costs one EVAL per script. Any other error means that the call is in doubt (R5).
 */
export class Scripts {
  readonly #connection: RedisConnection
  readonly #loading = new Map<Script, Promise<unknown>>()

  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  async run(script: Script, list: ScriptArguments): Promise<unknown> {
    for (;;) {
      try {
        return await this.#connection.evalsha(script.sha1, list)
      } catch (error) {
        if (!isMissingScript(error)) throw error
      }
      const loading = this.#loading.get(script)
      if (loading === undefined) break
      // It may be flushed again before our turn comes.
      await loading.catch(() => undefined)
    }
    const reply = this.#connection.eval(script.lua, list)
    this.#loading.set(script, reply)
    try {
      return await reply
    } finally {
      this.#loading.delete(script)
    }
  }
}

function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
