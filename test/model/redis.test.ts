import { expect, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import { keyedEvents, redisEvents } from './events.js'
import { Play } from './play.js'
import { checkPromises } from './property.js'
import { ModelServer } from './server.js'

const redis = useRedis()

test('the promises hold on Redis, whatever happens in whatever order', async () => {
  const server = new ModelServer(redis)
  const events = await checkPromises(redisEvents, 100, async (limit) => {
    await server.start()
    return new Play(server, limit)
  })
  expect(events).toBeGreaterThan(0)
}, 3_600_000)

test('the promises hold on Redis where processes go on by themselves while it does not answer', async () => {
  const server = new ModelServer(redis)
  const events = await checkPromises(redisEvents, 100, async (limit) => {
    await server.start()
    return new Play(server, limit + 1, { onStoreError: 'local' })
  })
  expect(events).toBeGreaterThan(0)
}, 3_600_000)

test('the promises hold on Redis with caps per key, which change on the way', async () => {
  const server = new ModelServer(redis)
  const events = await checkPromises(keyedEvents, 100, async (limit) => {
    await server.start()
    return new Play(server, limit + 1, { perKey: { concurrency: 1 } })
  })
  expect(events).toBeGreaterThan(0)
}, 3_600_000)
