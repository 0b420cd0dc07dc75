import { FairQueue } from '@fairqueue/core'
import type { RedisClient } from '@fairqueue/core/redis'
import { Cluster } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { useRedis, type ClientOptions, type IoredisVersion } from './kit/clients.js'
import { RedisCluster } from './kit/redisCluster.js'
import { VirtualRedis } from './kit/virtualRedis.js'
import { storeTests } from '@fairqueue/core/testing/store'
import { runSuite } from './kit/suite.js'

const redis = useRedis()

const clients: [name: string, version: IoredisVersion, options: ClientOptions][] = [
  ['ioredis 6', 'ioredis 6', {}],
  ['ioredis 5', 'ioredis 5', {}],
  // What a user may have set, and what changes how replies look and when commands go out.
  [
    'ioredis 6 with RESP3, numbers as text and pipelines',
    'ioredis 6',
    { protocol: 3, stringNumbers: true, enableAutoPipelining: true },
  ],
  ['iovalkey', 'iovalkey', {}],
]

for (const [name, version, options] of clients) {
  runSuite(
    'store',
    `the Redis store with ${name}`,
    storeTests(() => {
      const virtual = new VirtualRedis(redis)
      return {
        queue: async (queueOptions) => {
          const process = await virtual.process(options, version)
          const queue = process.queue(queueOptions)
          await virtual.settled()
          return queue
        },
        advance: (ms) => virtual.advance(ms),
        settled: () => virtual.settled(),
      }
    }),
  )
}

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await RedisCluster.started(1)
})
beforeEach(() => cluster.flush())
afterAll(() => cluster.stop())

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** The other clients, each connected. */
const others: Record<string, () => Promise<RedisClient>> = {
  'node-redis 6': async () => {
    const client = createClient({ url: redis.server.url })
    client.on('error', () => undefined)
    ends.push(() => client.destroy())
    return await client.connect()
  },
  'a Cluster of ioredis 6': async () => {
    const client = new Cluster(cluster.addresses)
    ends.push(() => client.disconnect())
    await client.ping()
    return client
  },
  'a Cluster of node-redis 6 with RESP2 and Buffers': async () => {
    const client = createCluster({
      rootNodes: cluster.addresses.map((socket) => ({ socket })),
      RESP: 2,
      commandOptions: { typeMapping: { 36: Buffer } },
    })
    client.on('error', () => undefined)
    ends.push(() => client.destroy())
    return await client.connect()
  },
}

for (const [name, connect] of Object.entries(others)) {
  runSuite(
    'store',
    `the Redis store with ${name}`,
    storeTests(() => {
      const virtual = new VirtualRedis(null)
      return {
        queue: async (queueOptions) => {
          const { store, clock } = virtual.watch(await connect())
          const quiet = { warn: () => undefined }
          const queue = new FairQueue({ name: 'q', bootGraceMs: 0, logger: quiet, ...queueOptions, store, clock })
          await virtual.settled()
          return queue
        },
        advance: (ms) => virtual.advance(ms),
        settled: () => virtual.settled(),
      }
    }),
  )
}
