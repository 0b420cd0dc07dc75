import { describe, expect, test } from 'vitest'
import { FakeClock } from './kit/fakeClock.js'
import { useRedis } from './kit/clients.js'
import { VirtualRedis } from './kit/virtualRedis.js'

describe('the fake clock', () => {
  test('fires timers in order, each at its own moment, also those set on the way', async () => {
    const clock = new FakeClock()
    const fired: string[] = []
    clock.setTimer(() => fired.push(`late ${clock.now()}`), 20, 'foreground')
    clock.setTimer(
      () => {
        fired.push(`early ${clock.now()}`)
        void Promise.resolve().then(() => clock.setTimer(() => fired.push(`between ${clock.now()}`), 5, 'background'))
      },
      10,
      'background',
    )
    expect(clock.pending).toEqual({ foreground: 1, background: 1 })
    await clock.advance(30)
    expect(fired).toEqual(['early 10', 'between 15', 'late 20'])
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
  })

  test('fires nothing that was cancelled, and all that is overdue after a jump', async () => {
    const clock = new FakeClock()
    const fired: number[] = []
    clock.setTimer(() => fired.push(1), 10, 'background').cancel()
    clock.setTimer(() => fired.push(2), 10, 'background')
    await clock.jump(1000)
    expect(fired).toEqual([2])
  })
})

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
