import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis } from '@fairqueue/test/kit/virtualRedis'
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

/** The store is lost, the first is back, the second is not yet: whoever comes must not run beside the two. */
async function expectNobodyBeside({ queue, second }: Awaited<ReturnType<typeof twoWhoRun>>, world: VirtualRedis) {
  second.stall()
  // (A memory that is lost in the same microsecond in which it began would look like the old one.)
  await world.advance(1)
  await redis.client().flushall()
  const newcomer = queue.enter()
  await world.settled()
  expect(newcomer.state).toBe('waiting')
  await second.wake()
  await world.advance(livenessMs / 3 + 100)
  expect(newcomer.state).toBe('waiting')
  expect((await queue.status()).running).toBe(2)
}

describe('who has tickets knows for whom a grace has to wait, also where every hint is lost (R16)', () => {
  test('of those who were there before it', async () => {
    const world = new VirtualRedis(redis)
    await expectNobodyBeside(await twoWhoRun(world), world)
  })

  test('of those who came after it, with the next proof of life', async () => {
    const world = new VirtualRedis(redis)
    const { queue, second } = await twoWhoRun(world)
    await queue.configure({ concurrency: 3 })
    const third = await world.process()
    await third.queue(options).acquire()
    await world.advance(livenessMs / 3 + 100)
    third.stall()
    second.stall()
    await redis.client().flushall()
    const newcomer = queue.enter()
    await world.settled()
    await second.wake()
    expect(newcomer.state).toBe('waiting')
    await third.wake()
    await world.advance(livenessMs / 3 + 100)
    expect(newcomer.state).toBe('waiting')
    expect((await queue.status()).running).toBe(3)
  })
})
