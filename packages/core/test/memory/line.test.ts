import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Line } from '../../src/memory/line.js'

interface Entry {
  readonly order: number
}

function byOrder(one: Entry, other: Entry): number {
  return one.order - other.order
}

/** A line and the sorted array from which it must be indistinguishable. */
class Pair {
  readonly line = new Line<Entry>()
  entries: Entry[] = []
  /** What the line answered when an entry was taken out: there, not there any more. */
  readonly removals: [boolean, boolean][] = []

  insert(order: number): void {
    if (this.entries.some((entry) => entry.order === order)) return
    const entry = { order }
    this.line.insert(entry)
    this.entries = [...this.entries, entry].toSorted(byOrder)
  }

  remove(index: number): void {
    const entry = this.entries[index % Math.max(1, this.entries.length)]
    if (entry === undefined) return
    this.removals.push([this.line.remove(entry), this.line.remove(entry)])
    this.entries = this.entries.filter((other) => other !== entry)
  }

  get seen(): object {
    const before = this.#someIndices.map((index) => this.line.countBefore(this.entries[index]!.order))
    const beyond = [-Infinity, Infinity].map((order) => this.line.countBefore(order))
    return { size: this.line.size, head: this.line.head, all: [...this.line], before, beyond, removals: this.removals }
  }

  get expected(): object {
    const { entries } = this
    const removals = this.removals.map(() => [true, false])
    const { length } = entries
    const beyond = [0, length]
    return { size: length, head: entries[0], all: entries, before: this.#someIndices, beyond, removals }
  }

  get #someIndices(): number[] {
    const { length } = this.entries
    return [0, 1, length >> 1, length - 1].filter((index) => index >= 0 && index < length)
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: fc.integer({ min: -50, max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.nat(100) }) },
)

test('a line is a sorted list: insert, remove, counts, head, size and order agree', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pair = new Pair()
      for (const each of steps) {
        if ('insert' in each) pair.insert(each.insert)
        else pair.remove(each.remove)
        expect(pair.seen).toEqual(pair.expected)
      }
    }),
  )
})

test('the same over chunk borders: thousands of entries, in and out at any place', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9999), { minLength: 20, maxLength: 60 }), fc.boolean(), (places, ascending) => {
      const pair = new Pair()
      const orders = Array.from({ length: 3000 }, (_, index) => index * 10)
      for (const order of ascending ? orders : orders.toReversed()) {
        const entry = { order }
        pair.line.insert(entry)
        pair.entries.push(entry)
      }
      pair.entries.sort(byOrder)
      for (const place of places) {
        pair.insert(place * 3 + 1)
        pair.remove(place)
      }
      expect(pair.seen).toEqual(pair.expected)
      // Empty it from its head: every chunk comes to its end.
      for (const entry of pair.entries) {
        expect(pair.line.head).toBe(entry)
        pair.line.remove(entry)
      }
      pair.entries = []
      expect(pair.seen).toEqual(pair.expected)
    }),
    { numRuns: 20 },
  )
})

test('an entry that only looks like one in the line is not in it', () => {
  const line = new Line<Entry>()
  line.insert({ order: 1 })
  expect(line.remove({ order: 1 })).toBe(false)
  expect(line.remove({ order: 2 })).toBe(false)
  expect(line.size).toBe(1)
})

test('in an empty line nobody stands', () => {
  const line = new Line<Entry>()
  expect([line.size, line.head, [...line]]).toEqual([0, undefined, []])
  expect(line.remove({ order: 1 })).toBe(false)
  expect(line.countBefore(1)).toBe(0)
})
