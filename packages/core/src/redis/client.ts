/** What this library needs of an ioredis client (5 or 6). Typed by shape, so that ioredis stays an optional peer. */
export interface RedisClient {
  readonly status: string
  readonly options: { readonly keyPrefix?: string | undefined }
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  info(section: string): Promise<string>
  duplicate(override: object): RedisSubscriber
  on(event: 'ready' | 'close', listener: () => void): unknown
  off(event: 'ready' | 'close', listener: () => void): unknown
}

/** The connection of our own that listens for hints: made from the user's client, which is never switched to subscriber mode. */
export interface RedisSubscriber {
  readonly status: string
  readonly stream?: { unref?(): unknown } | undefined
  connect(): Promise<void>
  subscribe(channel: string): Promise<unknown>
  ping(): Promise<unknown>
  disconnect(reconnect?: boolean): void
  on(event: 'connect' | 'ready' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
}
