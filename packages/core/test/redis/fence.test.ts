import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis } from '@fairqueue/test/kit/virtualRedis'
import { expect, test } from 'vitest'

const redis = useRedis()

test('leases that are learned of by asking, since their hints were lost, have fences of their own that grow with each grant (R2)', async () => {
  const world = new VirtualRedis(redis)
  const options = { concurrency: 2, maxWaitMs: '1m', pollIntervalMs: 1000 }
  const [a, b] = [await world.process(), await world.process()]
  const [first, second] = [a.queue(options), b.queue(options)]
  const held = [await first.acquire(), await first.acquire()]
  const waiting = [second.enter(), second.enter()]
  await world.settled()
  b.client.subscriber.fate = () => 'lose'
  for (const lease of held) await lease.release()
  await world.advance(1100)
  const learned = await Promise.all(waiting.map((ticket) => ticket.granted))
  for (const lease of learned) await lease.release()
  const later = await first.acquire()
  const fences = [...held, ...learned, later].map(({ fence }) => fence)
  expect(fences).toEqual([...new Set(fences)].toSorted((x, y) => x - y))
})
