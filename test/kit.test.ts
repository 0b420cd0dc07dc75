import { describe, expect, test } from 'vitest'
import { useRedis } from './kit/clients.js'
import { VirtualRedis } from './kit/virtualRedis.js'

describe('the virtual Redis', () => {
  const redis = useRedis()

  test('hands a lease over between two processes while time stands still', async () => {
    const world = new VirtualRedis(redis)
    const [a, b] = [await world.process(), await world.process()]
    const options = { concurrency: 1, maxWaitMs: '1m' }
    const first = await a.queue(options).acquire()
    const waiting = b.queue(options).enter()
    await world.settled()
    expect(waiting.state).toBe('waiting')
    await first.release()
    await world.settled()
    expect(waiting.state).toBe('granted')
    expect(b.client.subscriber.messages).toHaveLength(1)
  })

  test("moves the server's time together with that of the processes", async () => {
    const world = new VirtualRedis(redis)
    const [a, b] = [await world.process(), await world.process()]
    await a.queue({ concurrency: 1, livenessMs: 1000 }).acquire()
    const waiting = b.queue({ concurrency: 1, livenessMs: 1000, maxWaitMs: '1m' }).enter()
    await world.settled()
    a.die()
    await world.advance(900)
    expect(waiting.state).toBe('waiting')
    await world.advance(300)
    expect(waiting.state).toBe('granted')
  })
})
