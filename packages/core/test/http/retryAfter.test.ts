import { describe, expect, it } from 'vitest'
import { retryAfterSeconds } from '../../src/http/retryAfter.js'

const terms = { maxMs: 3_600_000, jitter: 0 }

describe('B25: Retry-After', () => {
  it.each([
    [1, 1],
    [999, 1],
    [1000, 1],
    [1001, 2],
    [0, 1],
    [-5000, 1],
    [-Infinity, 1],
    [36_000_000, 3600],
    [Infinity, 3600],
    [Number.NaN, 5],
    [null, 5],
  ])('of a hint of %s ms is %i s', (hintMs, seconds) => {
    expect(retryAfterSeconds(hintMs, terms, 0.5)).toBe(seconds)
  })

  it('is never more than the cap, nor less than a second, whatever the cap', () => {
    expect(retryAfterSeconds(10_000, { maxMs: 2500, jitter: 0 }, 0)).toBe(2)
    expect(retryAfterSeconds(10_000, { maxMs: 1000, jitter: 1 }, 1)).toBe(1)
  })

  it('is spread by jitter, upwards only and within its share', () => {
    const spread = (random: number): number => retryAfterSeconds(10_000, { maxMs: 3_600_000, jitter: 0.5 }, random)
    expect([spread(0), spread(0.5), spread(1)]).toEqual([10, 13, 15])
  })
})
