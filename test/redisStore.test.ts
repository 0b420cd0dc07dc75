import { ioredisVersions, useRedis, type IoredisVersion } from './kit/clients.js'
import { VirtualRedis } from './kit/virtualRedis.js'
import { storeSuite } from './suites/storeSuite.js'

const redis = useRedis()

for (const version of Object.keys(ioredisVersions) as IoredisVersion[]) {
  storeSuite(`the Redis store on ${version}`, () => {
    const virtual = new VirtualRedis(redis)
    return {
      queue: async (options) => {
        const process = await virtual.process({}, version)
        const queue = process.queue(options)
        await virtual.settled()
        return queue
      },
      advance: (ms) => virtual.advance(ms),
      settled: () => virtual.settled(),
    }
  })
}
