import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.js'

const DAY_MS = 86_400_000

describe('a timer of the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([25 * DAY_MS, 1e12, 2 ** 31 - 1, 2 ** 31, 5, 0])('B28: of %d ms fires once, at its moment', (delayMs) => {
    const fired = vi.fn<() => void>()
    systemClock.setTimer(fired, delayMs, 'background')
    vi.advanceTimersByTime(Math.max(0, delayMs - 1))
    expect(fired).toHaveBeenCalledTimes(delayMs === 0 ? 1 : 0)
    vi.advanceTimersByTime(1)
    expect(fired).toHaveBeenCalledTimes(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('B28: that is cancelled never fires, also after it was armed anew, and may be cancelled again', () => {
    const fired = vi.fn<() => void>()
    const timer = systemClock.setTimer(fired, 60 * DAY_MS, 'foreground')
    vi.advanceTimersByTime(40 * DAY_MS)
    timer.cancel()
    timer.cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(fired).not.toHaveBeenCalled()
  })
})

test('the system clock never goes back', () => {
  let last = systemClock.now()
  for (let look = 0; look < 1000; look += 1) {
    const now = systemClock.now()
    expect(now).toBeGreaterThanOrEqual(last)
    last = now
  }
})
