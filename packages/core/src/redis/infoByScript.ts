import type { RedisConnection } from './connection.js'

/** `INFO server`, sent the way that scripts take: to the server that has `key`, and never to a replica. */
export async function infoByScript(connection: Pick<RedisConnection, 'eval'>, key: string): Promise<string> {
  return String(await connection.eval("return redis.call('INFO', 'server')", [1, key]))
}
