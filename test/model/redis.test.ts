import { expect, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import { redisEvents } from './events.js'
import { Play } from './play.js'
import { checkPromises } from './property.js'
import { ModelServer } from './server.js'

const redis = useRedis()
let server: ModelServer | undefined

test('the promises hold on Redis, whatever happens in whatever order', async () => {
  server ??= new ModelServer(redis)
  const events = await checkPromises(redisEvents, 100, async (limit) => {
    await server!.start()
    return new Play(server!, limit)
  })
  expect(events).toBeGreaterThan(0)
}, 3_600_000)
