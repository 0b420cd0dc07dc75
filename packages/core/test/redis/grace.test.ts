import type { FairQueue, Ticket } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test } from 'vitest'

const redis = useRedis()

const livenessMs = 9000
const options = { concurrency: 2, livenessMs, maxWaitMs: '1m' }

/** Two instances that run one ticket each; the first could not hear of the second's coming. */
async function twoWhoRun(world: VirtualRedis) {
  const first = await world.process()
  const queue = first.queue(options)
  first.client.subscriber.fate = () => 'lose'
  await world.settled()
  const second = await world.process()
  await second.queue(options).acquire()
  await queue.acquire()
  return { queue, second }
}

/** The store is lost, the first is back, the others are not yet; then a newcomer asks. */
async function loseAndEnter(world: VirtualRedis, queue: FairQueue, others: readonly VirtualProcess[]): Promise<Ticket> {
  for (const other of others) other.stall()
  // (A memory that is lost in the same microsecond in which it began would look like the old one.)
  await world.advance(1)
  await redis.client().flushall()
  const newcomer = queue.enter()
  await world.settled()
  return newcomer
}

describe('who has tickets knows for whom a grace has to wait, also where every hint is lost (R16)', () => {
  test('of those who were there before it', async () => {
    const world = new VirtualRedis(redis)
    const { queue, second } = await twoWhoRun(world)
    const newcomer = await loseAndEnter(world, queue, [second])
    expect(newcomer.state).toBe('waiting')
    await second.wake()
    await world.advance(livenessMs / 3 + 100)
    expect(newcomer.state).toBe('waiting')
    expect((await queue.status()).running).toBe(2)
  })

  test('of those who came after it, with the next proof of life', async () => {
    const world = new VirtualRedis(redis)
    const { queue, second } = await twoWhoRun(world)
    await queue.configure({ concurrency: 3 })
    const third = await world.process()
    await third.queue(options).acquire()
    await world.advance(livenessMs / 3 + 100)
    const newcomer = await loseAndEnter(world, queue, [second, third])
    await second.wake()
    expect(newcomer.state).toBe('waiting')
    await third.wake()
    await world.advance(livenessMs / 3 + 100)
    expect(newcomer.state).toBe('waiting')
    expect((await queue.status()).running).toBe(3)
  })
})
