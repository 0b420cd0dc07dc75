import { FairQueue } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { useRedis } from '@fairqueue/test/kit/clients'
import { expect, test } from 'vitest'

const redis = useRedis()

test('what is asked before the first connection waits for it', async () => {
  const queue = new FairQueue({
    name: 'q',
    concurrency: 1,
    bootGraceMs: 0,
    storeTimeoutMs: '10s',
    store: new RedisStore({ redis: redis.client() }),
  })
  const [changed, status] = await Promise.all([queue.configure({ concurrency: 3 }), queue.status()])
  expect(changed.values.concurrency).toBe(3)
  expect(status.degraded).toBe(false)
  await queue.close()
})
