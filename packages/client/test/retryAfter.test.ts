import { afterEach, describe, expect, it, vi } from 'vitest'
import { retryAfterMs } from '../src/retryAfter.js'

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT'

describe('Retry-After', () => {
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['0', 0],
    ['1', 1000],
    ['36000', 36_000_000],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['Someday soon', null],
    ['', null],
    ['2026-10-21', null],
  ])('of %j is %j ms', (text, ms) => {
    expect(retryAfterMs(new Headers({ 'retry-after': text }))).toBe(ms)
  })

  it('that is missing is null', () => {
    expect(retryAfterMs(new Headers())).toBeNull()
  })

  it('as a date counts from the date of the answer, whatever our own clock says', () => {
    const headers = new Headers({ 'retry-after': DATE, date: 'Wed, 21 Oct 2026 07:27:30 GMT' })
    expect(retryAfterMs(headers)).toBe(30_000)
  })

  it('as a date without the date of the answer counts from now, and is 0 when it is past', () => {
    vi.useFakeTimers({ now: Date.parse(DATE) - 5000 })
    const headers = new Headers({ 'retry-after': DATE })
    expect(retryAfterMs(headers)).toBe(5000)
    vi.setSystemTime(Date.parse(DATE) + 5000)
    expect(retryAfterMs(headers)).toBe(0)
  })
})
