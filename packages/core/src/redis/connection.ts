import type { ScriptArguments } from './scripts.generated.js'

/** The way to Redis that the user's client offers, whatever library it is of. The client stays as it is: never closed, never listening. */
export interface RedisConnection {
  /** What the client itself puts before each key. */
  readonly keyPrefix: string
  /** Whether keys are spread over several servers. */
  readonly spread: boolean
  /** Whether a command would go out now, instead of waiting in the client. */
  readonly ready: boolean
  evalsha(sha1: string, list: ScriptArguments): Promise<unknown>
  eval(lua: string, list: ScriptArguments): Promise<unknown>
  /** `INFO server` of the server that has `key`. */
  info(key: string): Promise<string>
  /** Tells what becomes of the connection, at first that it stands if it does, until the returned function is called. */
  watch(watcher: ConnectionWatcher): () => void
  /** Opens a connection of our own for hints, with the address, credentials and TLS of the client. */
  listen(listener: HintListener): HintConnection
}

export interface ConnectionWatcher {
  /** It stands (again), perhaps to another server than before. */
  readonly onReady: () => void
  readonly onLost: () => void
}

/** A connection that only listens. */
export interface HintConnection {
  subscribe(channel: string): Promise<unknown>
  ping(): Promise<unknown>
  /** Gives the present connection up for a new one. */
  renew(): void
  close(): void
}

export interface HintListener {
  /** Connected (again), subscribed to nothing. */
  readonly onReady: () => void
  readonly onDown: (cause: unknown) => void
  readonly onMessage: (channel: string, message: string) => void
}
