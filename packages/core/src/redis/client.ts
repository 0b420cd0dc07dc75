import { OptionError } from '../base/errors.js'
import { show } from '../base/options.js'
import type { RedisConnection } from './connection.js'
import { IoredisClusterConnection, type IoredisCluster } from './ioredisClusterConnection.js'
import { IoredisConnection, type IoredisClient } from './ioredisConnection.js'
import { NodeRedisClusterConnection, type NodeRedisCluster } from './nodeRedisClusterConnection.js'
import { NodeRedisConnection, type NodeRedisClient } from './nodeRedisConnection.js'
import { NodeRedisSentinelConnection, type NodeRedisSentinel } from './nodeRedisSentinelConnection.js'

/**
 * A client of ioredis 5 or 6 or iovalkey (`Redis`, `Cluster`), or of node-redis 6 (`createClient()`, `createCluster()`,
 * `createSentinel()`).
 */
export type RedisClient = IoredisClient | IoredisCluster | NodeRedisClient | NodeRedisCluster | NodeRedisSentinel

/** Tells by its shape what kind of client it is. @throws OptionError */
export function connectionOf(redis: RedisClient): RedisConnection {
  if (has(redis, 'evalsha') && has(redis, 'duplicate'))
    return has(redis, 'nodes')
      ? new IoredisClusterConnection(redis as IoredisCluster)
      : new IoredisConnection(redis as IoredisClient)
  if (has(redis, 'evalSha') && has(redis, 'duplicate') && has(redis, 'withTypeMapping')) {
    if (has(redis, 'nodeClient')) return new NodeRedisClusterConnection(redis as NodeRedisCluster)
    if (has(redis, 'getMasterNode')) return new NodeRedisSentinelConnection(redis as NodeRedisSentinel)
    return new NodeRedisConnection(redis as NodeRedisClient)
  }
  throw new OptionError(
    'redis',
    `Option "redis" must be a client of ioredis, iovalkey or node-redis 6, got ${describe(redis)}.`,
  )
}

function has(value: unknown, method: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function'
}

function describe(value: unknown): string {
  if (has(value, 'then')) return 'a promise: await it first'
  if (typeof value === 'function') return `the function or class ${show(value.name)}: make a client of it`
  if (has(value, 'execute') && has(value, 'evalSha')) return 'a pool of node-redis: give it a client'
  if (typeof value !== 'object' || value === null) return show(value)
  const { name } = (value.constructor ?? Object) as { name?: unknown }
  return `an object of class ${show(name)}`
}
