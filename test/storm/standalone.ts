import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { RedisServer } from '../kit/redisServer.js'
import { Link } from './link.js'
import type { Topology } from './topology.js'

/** One Redis server. */
export async function standalone(): Promise<Topology> {
  const server = await RedisServer.started()
  const control = new Redis(server.port, server.host, {
    retryStrategy: () => 20,
    // What is asked of a server that is not there fails at once, and is asked again.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  })
  control.on('error', () => undefined)
  const [, directory] = (await untilItWorks(() => control.config('GET', 'dir'))) as [string, string]

  async function size(key: string, type: string): Promise<number> {
    if (type === 'zset') return await control.zcard(key)
    return type === 'hash' ? await control.hlen(key) : 1
  }

  return {
    name: 'standalone',
    monitored: [server.port],
    openLink: () => Link.open(server.port),
    ping: async () => {
      await control.ping()
    },
    faults: {
      async stopStore(durationMs) {
        server.pause()
        await sleep(durationMs)
        server.resume()
      },
      async emptyStore(durationMs) {
        await server.kill()
        await rm(join(directory, 'dump.rdb'), { force: true })
        await sleep(durationMs)
        await server.start()
      },
      async oldStore(durationMs) {
        await control.save()
        await sleep(durationMs)
        await server.kill()
        await server.start()
      },
      async flushAll() {
        await control.flushall()
      },
      async flushScripts() {
        await control.script('FLUSH')
      },
    },
    async keys() {
      const keys: Awaited<ReturnType<Topology['keys']>> = {}
      for (const key of await control.keys('*')) {
        const type = await control.type(key)
        keys[key] = { type, size: await size(key, type), expiresInMs: await control.pttl(key) }
      }
      return keys
    },
    async close() {
      control.disconnect()
      await server.stop()
    },
  }
}

async function untilItWorks<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await sleep(20)
    }
  }
}
