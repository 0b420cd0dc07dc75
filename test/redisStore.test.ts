import { useRedis, type ClientOptions, type IoredisVersion } from './kit/clients.js'
import { VirtualRedis } from './kit/virtualRedis.js'
import { storeSuite } from './suites/storeSuite.js'

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
]

for (const [name, version, options] of clients) {
  storeSuite(`the Redis store with ${name}`, () => {
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
  })
}
