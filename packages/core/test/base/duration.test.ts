import { describe, expect, test } from 'vitest'
import { readDuration } from '../../src/base/duration.js'

describe('a duration', () => {
  const durations: [number | string, number][] = [
    [0, 0],
    [1.5, 1.5],
    [1e12, 1e12],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['0ms', 0],
    ['250ms', 250],
    ['20s', 20_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['25d', 2_160_000_000],
  ]
  test.each(durations)('%s is %d ms', (value, ms) => {
    expect(readDuration(value)).toBe(ms)
  })

  const others: unknown[] = [
    ...[-1, Number.NaN, Infinity, -Infinity, 2 ** 53, 1e21],
    ...['5', '', ' 5s', '5s ', '5 s', '5S', '.5s', '5.s', '-5s', '+5s', '1e3ms', '5w', '5s5s', `${'9'.repeat(400)}d`],
    ...[null, undefined, true, 5n, [], [5], {}, { valueOf: () => 5 }],
  ]
  test('is nothing else', () => {
    expect(others.filter((value) => readDuration(value) !== undefined)).toEqual([])
  })
})
