import * as fc from 'fast-check'
import { breathe, FakeClock } from '@fairqueue/core/testing'
import { expect, test, vi } from 'vitest'
import {
  FairQueue,
  MemoryStore,
  type Instance,
  type JoinOptions,
  type Store,
  type StoreStatus,
} from '../../src/index.js'
import { sampleIndices } from '../../src/queue/positionWatch.js'

/** A memory store whose looks are answered by hand. */
class SlowLooks implements Store {
  readonly kind = 'memory'
  readonly #store = new MemoryStore()
  answer: (() => void)[] = []
  looks = 0

  join(options: JoinOptions): Instance {
    const instance = this.#store.join(options)
    const status = instance.status.bind(instance)
    instance.status = async (sample) => {
      this.looks += 1
      // As they are when it is asked.
      const seen: StoreStatus = await status(sample)
      await new Promise<void>((resolve) => this.answer.push(resolve))
      return seen
    }
    return instance
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

function slowQueue() {
  const clock = new FakeClock()
  const store = new SlowLooks()
  const queue = new FairQueue({ name: 'q', concurrency: 0, maxWaitMs: '1h', statusIntervalMs: 1000, store, clock })
  const answerAll = async (): Promise<void> => {
    for (const answer of store.answer.splice(0)) answer()
    await breathe()
  }
  return { clock, store, queue, answerAll }
}

test('a line is looked at once an interval, as long as somebody watches', async () => {
  const { clock, store, queue, answerAll } = slowQueue()
  const ticket = queue.enter()
  await clock.advance(5000)
  expect(store.looks).toBe(0)
  expect(ticket.position).toBe(1)
  await clock.advance(1000)
  await answerAll()
  await clock.advance(1000)
  await answerAll()
  expect(store.looks).toBe(2)
  ticket.cancel()
  await clock.advance(10_000)
  expect(store.looks).toBe(2)
  expect(clock.pending).toEqual({ foreground: 0, background: 0 })
})

test('a slow look is waited for: however watchers come and go, one look is under way or one timer is set', async () => {
  const { clock, store, queue, answerAll } = slowQueue()
  for (let round = 0; round < 5; round += 1) {
    const ticket = queue.enter({ onStatus: () => undefined })
    await clock.advance(1000)
    ticket.cancel()
    const next = queue.enter({ onStatus: () => undefined })
    await answerAll()
    next.cancel()
  }
  queue.enter({ onStatus: () => undefined })
  await answerAll()
  const before = store.looks
  for (let second = 0; second < 10; second += 1) {
    await clock.advance(1000)
    await answerAll()
  }
  expect(store.looks - before).toBeLessThanOrEqual(10)
  expect(clock.pending.background).toBe(1)
})

test('a ticket that has ended meanwhile is shown no position any more', async () => {
  const { clock, queue, answerAll } = slowQueue()
  const tickets = [queue.enter(), queue.enter()]
  const told = vi.fn<(payload: unknown) => void>()
  tickets[1]!.on('status', told)
  await clock.advance(1000)
  tickets[1]!.cancel()
  expect(told).toHaveBeenCalledTimes(1)
  await answerAll()
  expect([tickets[1]!.position, tickets[1]!.etaMs]).toEqual([null, null])
  expect(told).toHaveBeenCalledTimes(1)
})

test('a sample holds the first tickets, the last one, and of the rest an even share', () => {
  fc.assert(
    fc.property(fc.nat(200_000), (count) => {
      const indices = sampleIndices(count)
      expect(indices.length).toBeLessThanOrEqual(64)
      expect(indices.slice(0, 32)).toEqual(Array.from({ length: Math.min(32, count) }, (_, index) => index))
      expect(indices.at(-1)).toBe(count > 0 ? count - 1 : undefined)
      expect(indices).toEqual([...new Set(indices)].toSorted((one, other) => one - other))
      const widest = Math.max(1, ...indices.map((index, at) => index - (indices[at - 1] ?? -1)))
      expect(widest).toBeLessThanOrEqual(Math.ceil(Math.max(0, count - 32) / 32) + 1)
    }),
  )
})
