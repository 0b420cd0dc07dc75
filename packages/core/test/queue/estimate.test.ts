import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Estimate } from '../../src/queue/estimate.js'

function estimateOf(...samples: [atMs: number, grants: number][]): Estimate {
  const estimate = new Estimate()
  for (const [atMs, grants] of samples) estimate.note(atMs, grants)
  return estimate
}

test('nothing is known without two looks with a grant between them', () => {
  expect(estimateOf().rate).toBeNull()
  expect(estimateOf([0, 5]).rate).toBeNull()
  expect(estimateOf([0, 5], [1000, 5]).rate).toBeNull()
  expect(estimateOf([0, 5], [0, 9]).rate).toBeNull()
  expect(estimateOf([0, 5], [1000, 5]).etaMs(3)).toBeNull()
})

test('the wait is the position over the rate', () => {
  const estimate = estimateOf([0, 0], [10_000, 20])
  expect(estimate.rate).toBeCloseTo(0.002)
  expect(estimate.etaMs(1)).toBe(500)
  expect(estimate.etaMs(10)).toBe(5000)
  expect(estimate.etaMs(0)).toBe(0)
  expect(estimate.etaMs(null)).toBeNull()
})

test('the last minute counts: an old rush is forgotten', () => {
  const estimate = new Estimate()
  for (let second = 0; second <= 60; second += 1) estimate.note(second * 1000, second * 100)
  for (let second = 61; second <= 200; second += 1) estimate.note(second * 1000, 6000 + (second - 60))
  expect(estimate.etaMs(1)).toBeGreaterThan(900)
  expect(estimate.etaMs(1)).toBeLessThan(1100)
})

test('between two grants the estimate counts down, and never below those who stand before', () => {
  const estimate = estimateOf([0, 0], [10_000, 10])
  expect([estimate.etaMs(1), estimate.etaMs(3)]).toEqual([1000, 3000])
  estimate.note(10_400, 10)
  expect([estimate.etaMs(1), estimate.etaMs(3)]).toEqual([600, 2600])
  estimate.note(15_000, 10)
  expect([estimate.etaMs(1), estimate.etaMs(3)]).toEqual([0, 2000])
})

test('after a minute without a grant nothing is known', () => {
  const estimate = estimateOf([0, 0], [10_000, 10], [70_000, 10])
  expect(estimate.etaMs(1)).toBe(0)
  estimate.note(70_001, 10)
  expect(estimate.etaMs(1)).toBeNull()
  expect(estimate.rate).toBeCloseTo(10 / 70_001)
})

test('many looks a second are kept as one a second', () => {
  const estimate = new Estimate()
  for (let look = 0; look <= 20_000; look += 1) estimate.note(look * 10, look)
  expect(estimate.rate).toBeCloseTo(0.1)
})

test('a store that has lost its count, or its time, begins anew', () => {
  expect(estimateOf([0, 100], [1000, 200], [2000, 5]).rate).toBeNull()
  expect(estimateOf([0, 100], [1000, 200], [500, 300]).rate).toBeNull()
  expect(estimateOf([0, 100], [1000, 200], [2000, 5], [3000, 6]).etaMs(1)).toBe(1000)
})

test('the estimate is never negative, never NaN, never infinite', () => {
  const sample = fc.tuple(fc.double({ min: 0, max: 1e13, noNaN: true }), fc.nat(1e9))
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 30 }), fc.nat(1e6), (samples, position) => {
      const etaMs = estimateOf(...samples).etaMs(position)
      expect(etaMs === null || (Number.isFinite(etaMs) && etaMs >= 0)).toBe(true)
    }),
  )
})
