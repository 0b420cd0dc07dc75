import { Redis as Redis6, type RedisOptions } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { Redis as Valkey } from 'iovalkey'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { RedisServer } from './redisServer.js'

/** Both versions of ioredis that are supported, and its fork, by name. What the tests use of them is the same. */
export const ioredisVersions = {
  'ioredis 6': Redis6,
  'ioredis 5': Redis5 as unknown as typeof Redis6,
  iovalkey: Valkey as unknown as typeof Redis6,
}

/** Which ioredis to use. */
export type IoredisVersion = keyof typeof ioredisVersions

/** How a test's client differs from the defaults. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>

/** A test file's Redis: empty before each test; the clients that a test makes, and those made of them, are gone after it. */
export interface TestRedis {
  readonly server: RedisServer
  client(options?: ClientOptions, version?: IoredisVersion): Redis6
}

/** Gives the calling test file a Redis of its own. Call it at the top of the file or of a `describe`. */
export function useRedis(...settings: string[]): TestRedis {
  let server: RedisServer
  let clients: Redis6[] = []

  function track(client: Redis6): Redis6 {
    // Without a listener ioredis prints every failed attempt to connect.
    client.on('error', () => undefined)
    const duplicate = client.duplicate.bind(client)
    client.duplicate = (override) => track(duplicate(override))
    clients.push(client)
    return client
  }

  beforeAll(async () => {
    server = await RedisServer.started(...settings)
  })
  beforeEach(async () => {
    const control = new Redis6(server.port, server.host)
    // What the tests before have sent and is not executed yet goes with its connection.
    await control.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await control.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await control.flushall()
    control.disconnect()
  })
  afterEach(() => {
    for (const client of clients) client.disconnect()
    clients = []
  })
  afterAll(async () => {
    await server.stop()
  })
  return {
    get server() {
      return server
    },
    client: (options = {}, version = 'ioredis 6') =>
      track(new ioredisVersions[version](server.port, server.host, options)),
  }
}
