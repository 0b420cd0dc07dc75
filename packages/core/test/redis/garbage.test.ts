import type { FairQueue, Logger } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { VirtualRedis, type VirtualProcess } from '@fairqueue/test/kit/virtualRedis'
import { describe, expect, test, vi, type Mock } from 'vitest'

const redis = useRedis()

const options = { concurrency: 5, maxWaitMs: '1h' } as const
const STATE = 'fairqueue:{q}:state'

describe('garbage in the shared settings', () => {
  const texts = [
    '0',
    '',
    'NaN',
    '{',
    'null',
    '[]',
    '{"concurrency":"NaN"}',
    '{"concurrency":""}',
    '{"concurrency":-1}',
    '{"concurrency":{}}',
    '{"surprise":"1"}',
  ]
  const garbage: [string, string | null][] = [
    ...['operator', 'code'].flatMap((field) => [...texts, null].map((text): [string, string | null] => [field, text])),
    ...['', 'x', null].map((text): [string, string | null] => ['numbers', text]),
    ...['', 'NaN', '-1', null].map((text): [string, string | null] => ['version', text]),
    ['by', null],
  ]

  test.each(garbage)("B11: %s = %j changes no limit, and the operator's value stays in force", async (field, text) => {
    const world = new VirtualRedis(redis)
    const first = await world.process()
    const queue = first.queue(options)
    await world.settled()
    await queue.configure({ concurrency: 20 }, { by: 'Ann' })
    const lease = await queue.acquire()
    await world.settled()
    if (text === null) await redis.client().hdel(STATE, field)
    else await redis.client().hset(STATE, field, text)
    const second = (await world.process()).queue(options)
    await world.settled()
    const waiting = queue.enter()
    await world.advance(15_000)
    expect([queue.settings.concurrency, second.settings.concurrency]).toEqual([20, 20])
    for (const each of [queue, second]) {
      const status = await each.status()
      expect(status).toMatchObject({ concurrency: 20, running: 2, waiting: 0, degraded: false })
      expect(JSON.stringify(status)).not.toMatch(/NaN|undefined/)
    }
    expect(waiting.state).toBe('granted')
    await lease.release()
    // A change makes it whole again.
    const record = await second.configure({ concurrency: 7 })
    expect(record).toMatchObject({ values: { concurrency: 7 }, operator: { concurrency: 7 } })
    await world.settled()
    await (await queue.acquire()).release()
    await world.settled()
    expect(await queue.status()).toMatchObject({ concurrency: 7 })
  })

  test('B11: is told as an error', async () => {
    const world = new VirtualRedis(redis)
    const first = (await world.process()).queue(options)
    await world.settled()
    await first.configure({ concurrency: 20 })
    await redis.client().hset(STATE, 'operator', '{"concurrency":"NaN"}')
    const errors = vi.fn<(payload: unknown) => void>()
    const second = (await world.process()).queue(options)
    second.on('error', errors)
    await world.settled()
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining('garbage') as string }),
    )
  })
})

describe('a store that answers nonsense', () => {
  const answers: [string, unknown][] = [
    ['nil', null],
    ['a string', 'OK'],
    ['a number', 5],
    ['an empty array', []],
    ['a short array', ['ok']],
    ['an array of nils', [null, null, null]],
    ['half a reply', ['ok', '1', '1 0 g']],
    ['an unknown word', ['maybe', '1', '1 0  ', 0, 0, 0, '']],
  ]

  async function opened(onStoreError: 'open' | 'closed'): Promise<{
    world: VirtualRedis
    process: VirtualProcess
    queue: FairQueue
    degraded: boolean[]
    warn: Mock<Logger['warn']>
  }> {
    const world = new VirtualRedis(redis)
    const process = await world.process()
    const warn = vi.fn<Logger['warn']>()
    const queue = process.queue({ ...options, onStoreError, logger: { warn } })
    const degraded: boolean[] = []
    queue.on('degraded', (news) => degraded.push(news.degraded))
    await world.settled()
    return { world, process, queue, degraded, warn }
  }

  test.each(answers)('B21: %s is an outage, never a verdict', async (_, answer) => {
    const { world, process, queue, degraded, warn } = await opened('closed')
    process.client.fate = () => ({ answer })
    const tickets = Array.from({ length: 20 }, () => queue.enter())
    await world.advance(1500)
    for (const { outcome } of tickets) {
      expect(outcome).toMatchObject({ code: 'FQ_STORE_UNAVAILABLE', status: 503 })
      expect(JSON.stringify(outcome)).not.toMatch(/NaN|undefined/)
    }
    const status = await queue.status()
    expect(status).toMatchObject({ degraded: true, running: null, waiting: null })
    expect(JSON.stringify(status)).not.toMatch(/NaN|undefined/)
    await expect(queue.configure({ concurrency: 9 })).rejects.toMatchObject({ code: 'FQ_STORE_UNAVAILABLE' })
    process.client.fate = () => 'deliver'
    await world.advance(1500)
    const again = queue.enter()
    await world.settled()
    expect(again.state).toBe('granted')
    expect(degraded).toEqual([true, false])
    expect(await queue.status()).toMatchObject({ degraded: false, running: 1, waiting: 0 })
    expect(warn).toHaveBeenCalledTimes(1)
  })

  test('B21: lets pass uncounted where onStoreError is "open", each once', async () => {
    const { world, process, queue } = await opened('open')
    process.client.fate = () => ({ answer: null })
    const passed = vi.fn<(payload: unknown) => void>()
    const tickets = Array.from({ length: 20 }, () => queue.enter())
    for (const ticket of tickets) ticket.whenSettled(passed)
    await world.advance(1500)
    expect(passed).toHaveBeenCalledTimes(20)
    process.client.fate = () => 'deliver'
    await world.advance(1500)
    expect(passed).toHaveBeenCalledTimes(20)
    expect(tickets.every(({ state }) => state === 'granted')).toBe(true)
    // Whatever the store still granted them has been given back: they are not counted.
    expect(await queue.status()).toMatchObject({ running: 0, waiting: 0, local: { running: 20 } })
  })
})
