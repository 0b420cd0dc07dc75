import { FakeClock } from '@fairqueue/core/testing'
import { expect, test } from 'vitest'
import { FairQueue, MemoryStore, type FairQueueOptions } from '../../src/index.js'

/** Instances of one queue. In memory a hand-over happens within the call that frees a permit, so callbacks run inside of each other. */
function open(count: number, options: Partial<FairQueueOptions> = {}) {
  const store = new MemoryStore()
  const clock = new FakeClock()
  const queues = Array.from(
    { length: count },
    () => new FairQueue({ name: 'q', concurrency: 1, store, clock, ...options }),
  )
  return { clock, queues: queues as [FairQueue, FairQueue] }
}

test('a lease that ends is told so before its permit goes to the next', async () => {
  const { clock, queues } = open(1, { leaseMs: 1000 })
  const [queue] = queues
  const { signal } = await queue.acquire()
  const seen: boolean[] = []
  queue.enter().whenSettled(() => seen.push(signal.aborted))
  await clock.advance(1000)
  expect(seen).toEqual([true])
})

test('a closing instance takes its leases away before their permits go to the next', async () => {
  const { queues } = open(2)
  const [closing, staying] = queues
  const { signal } = await closing.acquire()
  const seen: boolean[] = []
  staying.enter().whenSettled(() => seen.push(signal.aborted))
  await closing.close({ graceMs: 0 })
  expect(seen).toEqual([true])
})

test('a ticket ends once, also when whoever its end lets in cancels it too', async () => {
  const { queues } = open(1, { concurrency: 2 })
  const [queue] = queues
  const ended: string[] = []
  queue.on('cancelled', ({ key }) => ended.push(key!))
  await queue.acquire()
  const large = queue.enter({ key: 'large', permits: 2 })
  const small = queue.enter({ key: 'small' })
  const last = queue.enter({ key: 'last' })
  small.whenSettled(() => large.cancel())
  large.cancel()
  expect(ended).toEqual(['large'])
  expect([small.state, last.state]).toEqual(['granted', 'waiting'])
  expect((await queue.status()).local).toMatchObject({ running: 2, waiting: 1 })
})

test('a ticket that passes because the queue is switched off ends once, also when whoever that lets in cancels it', async () => {
  const { queues } = open(2, { concurrency: 2 })
  const [queue, other] = queues
  const ended: string[] = []
  queue.on('cancelled', ({ key }) => ended.push(key!))
  await queue.acquire()
  const large = queue.enter({ key: 'large', permits: 2 })
  other.enter({ key: 'small' }).whenSettled(() => large.cancel())
  await queue.configure({ enabled: false })
  expect(large.state).toBe('granted')
  expect(ended).toEqual([])
})

test('settings that a listener changes while it is told of others reach everybody as they are in the end', async () => {
  const { queues } = open(2)
  const [first, second] = queues
  const listener = (): void => {
    first.off('settingsChanged', listener)
    void first.configure({ concurrency: 3 })
  }
  first.on('settingsChanged', listener)
  const record = await first.configure({ concurrency: 2 })
  expect([first.settings.concurrency, second.settings.concurrency]).toEqual([3, 3])
  expect([record.version, record.values.concurrency]).toEqual([1, 2])
})
