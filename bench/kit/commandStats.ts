import type { Redis } from 'ioredis'

/** What Redis did for script calls. */
export interface ScriptCalls {
  readonly calls: number
  /** Microseconds inside Redis, all commands of the scripts included. */
  readonly microseconds: number
}

/** All script calls since the statistics were last reset. */
export async function readScriptCalls(redis: Redis): Promise<ScriptCalls> {
  const statistics = await redis.info('commandstats')
  let calls = 0
  let microseconds = 0
  for (const found of statistics.matchAll(/^cmdstat_(?:evalsha|eval):calls=(\d+),usec=(\d+)/gm)) {
    calls += Number(found[1])
    microseconds += Number(found[2])
  }
  return { calls, microseconds }
}

export async function resetCommandStats(redis: Redis): Promise<void> {
  await redis.call('CONFIG', 'RESETSTAT')
}
