import { breathe, FakeClock } from '@fairqueue/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { Persistence } from '../../src/store/persistence.js'

const TIMEOUT_MS = 1000

interface Attempt {
  readonly resolve: (answer: string) => void
  readonly reject: (cause: unknown) => void
}

function open() {
  const clock = new FakeClock()
  const troubles: unknown[] = []
  const attempts: Attempt[] = []
  const connection = { ready: true }
  const persistence = new Persistence(
    clock,
    TIMEOUT_MS,
    () => connection.ready,
    (cause) => troubles.push(cause),
  )
  const call = (): Promise<string> =>
    new Promise((resolve, reject) => {
      attempts.push({ resolve, reject })
    })
  return { clock, troubles, attempts, connection, persistence, call }
}

describe('a call until it is answered', () => {
  test('resolves with the answer and leaves no timer', async () => {
    const { clock, attempts, persistence, call } = open()
    const answer = persistence.until(call)
    attempts[0]!.resolve('yes')
    expect(await answer).toBe('yes')
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
  })

  test('that fails is repeated after a pause that grows', async () => {
    const { clock, attempts, persistence, call, troubles } = open()
    const answer = persistence.until(call)
    const momentsMs: number[] = []
    for (let failed = 0; failed < 12; failed += 1) {
      momentsMs.push(clock.now())
      attempts.at(-1)!.reject(new Error(`failure ${failed}`))
      const before = attempts.length
      while (attempts.length === before) await clock.advance(10)
    }
    expect(troubles).toHaveLength(12)
    const pauses = momentsMs.slice(1).map((atMs, index) => atMs - momentsMs[index]!)
    expect(pauses[0]).toBeLessThanOrEqual(90)
    for (const pause of pauses) expect(pause).toBeLessThanOrEqual(1510)
    expect(Math.max(...pauses)).toBeGreaterThan(400)
    attempts.at(-1)!.resolve('at last')
    expect(await answer).toBe('at last')
  })

  test('that is overdue is repeated, a few times only: the first answer counts, however late', async () => {
    const { clock, attempts, persistence, call, troubles } = open()
    const answer = persistence.until(call)
    await clock.advance(20 * TIMEOUT_MS)
    expect(attempts).toHaveLength(3)
    expect(troubles).toHaveLength(20)
    attempts[0]!.resolve('late')
    expect(await answer).toBe('late')
    attempts[1]!.resolve('later')
    attempts[2]!.reject(new Error('too late to matter'))
    await breathe()
    expect(troubles).toHaveLength(20)
    expect(clock.pending.background).toBe(0)
  })

  test('without a connection is not tried, but told, and tried as soon as there is one', async () => {
    const { clock, attempts, persistence, call, connection, troubles } = open()
    connection.ready = false
    const answer = persistence.until(call)
    await clock.advance(2 * TIMEOUT_MS)
    expect(attempts).toEqual([])
    expect(troubles).toHaveLength(2)
    connection.ready = true
    persistence.retryNow()
    expect(attempts).toHaveLength(1)
    attempts[0]!.resolve('yes')
    expect(await answer).toBe('yes')
  })

  test('that is under way is not doubled by a new connection', () => {
    const { attempts, persistence, call } = open()
    void persistence.until(call)
    persistence.retryNow()
    expect(attempts).toHaveLength(1)
  })

  test('ends with nothing when stopped, and none begins afterwards', async () => {
    const { clock, attempts, persistence, call } = open()
    const answer = persistence.until(call)
    persistence.stop()
    expect(await answer).toBeUndefined()
    expect(await persistence.until(call)).toBeUndefined()
    expect(attempts).toHaveLength(1)
    expect(clock.pending.background).toBe(0)
    persistence.retryNow()
    expect(attempts).toHaveLength(1)
  })
})

describe('one attempt', () => {
  test('is answered, or fails with what the call fails with', async () => {
    const { clock, attempts, persistence, call } = open()
    const answer = persistence.once(call)
    attempts[0]!.resolve('yes')
    expect(await answer).toBe('yes')
    const failure = persistence.once(call)
    attempts[1]!.reject(new Error('no'))
    await expect(failure).rejects.toThrow('no')
    await breathe()
    expect(clock.pending.background).toBe(0)
  })

  test('ends when its time is over; a late failure harms nobody', async () => {
    const { clock, attempts, persistence, call } = open()
    const unhandled = vi.fn<(payload: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    const answer = persistence.once(call)
    const refusal = answer.catch((error: unknown) => error)
    await clock.advance(TIMEOUT_MS)
    expect(await refusal).toMatchObject({ message: 'no answer within 1000 ms' })
    attempts[0]!.reject(new Error('late'))
    await breathe()
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})
