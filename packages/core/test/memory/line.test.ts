import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Line } from '../../src/memory/line.js'

interface Entry {
  readonly order: number
}

function byOrder(one: Entry, other: Entry): number {
  return one.order - other.order
}

/** The line must be indistinguishable from a sorted array. */
class Model {
  readonly line = new Line<Entry>()
  entries: Entry[] = []

  insert(order: number): void {
    if (this.entries.some((entry) => entry.order === order)) return
    const entry = { order }
    this.line.insert(entry)
    this.entries = [...this.entries, entry].toSorted(byOrder)
  }

  remove(index: number): void {
    const entry = this.entries[index % Math.max(1, this.entries.length)]
    if (entry === undefined) return
    expect(this.line.remove(entry)).toBe(true)
    expect(this.line.remove(entry)).toBe(false)
    expect(this.line.rank(entry)).toBe(-1)
    this.entries = this.entries.filter((other) => other !== entry)
  }

  check(): void {
    expect(this.line.size).toBe(this.entries.length)
    expect(this.line.head).toBe(this.entries[0])
    expect([...this.line]).toEqual(this.entries)
    for (const index of [0, 1, this.entries.length >> 1, this.entries.length - 1]) {
      const entry = this.entries[index]
      if (entry !== undefined) expect(this.line.rank(entry)).toBe(index)
    }
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: fc.integer({ min: -50, max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.nat(100) }) },
)

test('a line is a sorted list: insert, remove, rank, head, size and order agree', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model()
      for (const each of steps) {
        if ('insert' in each) model.insert(each.insert)
        else model.remove(each.remove)
        model.check()
      }
    }),
  )
})

test('the same over chunk borders: thousands of entries, in and out at any place', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9999), { minLength: 20, maxLength: 60 }), fc.boolean(), (places, ascending) => {
      const model = new Model()
      const orders = Array.from({ length: 3000 }, (_, index) => index * 10)
      for (const order of ascending ? orders : orders.toReversed()) {
        const entry = { order }
        model.line.insert(entry)
        model.entries.push(entry)
      }
      model.entries.sort(byOrder)
      for (const place of places) {
        model.insert(place * 3 + 1)
        model.remove(place)
      }
      model.check()
      // Empty it from its head: every chunk comes to its end.
      for (const entry of model.entries) {
        expect(model.line.head).toBe(entry)
        model.line.remove(entry)
      }
      model.entries = []
      model.check()
    }),
    { numRuns: 20 },
  )
})

test('an entry that only looks like one in the line is not in it', () => {
  const line = new Line<Entry>()
  line.insert({ order: 1 })
  expect(line.rank({ order: 1 })).toBe(-1)
  expect(line.remove({ order: 1 })).toBe(false)
  expect(line.remove({ order: 2 })).toBe(false)
  expect(line.rank({ order: 0 })).toBe(-1)
  expect(line.size).toBe(1)
})

test('in an empty line nobody stands', () => {
  const line = new Line<Entry>()
  expect([line.size, line.head, [...line]]).toEqual([0, undefined, []])
  expect(line.remove({ order: 1 })).toBe(false)
  expect(line.rank({ order: 1 })).toBe(-1)
})
