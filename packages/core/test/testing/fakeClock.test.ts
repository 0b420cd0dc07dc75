import { describe, expect, test } from 'vitest'
import { FakeClock } from '@fairqueue/core/testing'

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

  test('never goes back, and by no time that is none', async () => {
    const clock = new FakeClock()
    await clock.advance(5)
    expect(() => clock.moveTo(4)).toThrow(RangeError)
    await expect(clock.jump(-1)).rejects.toThrow(RangeError)
    for (const ms of [-1, Number.NaN, Infinity, '30s' as unknown as number]) {
      await expect(clock.advance(ms)).rejects.toThrow(RangeError)
    }
    expect(clock.now()).toBe(5)
  })
})
