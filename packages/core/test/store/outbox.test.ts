import { expect, test } from 'vitest'
import { MOST_OPERATIONS, Outbox } from '../../src/store/outbox.js'
import { Slot } from '../../src/store/slot.js'
import { place } from './place.js'

function slots(count: number): Slot[] {
  return Array.from({ length: count }, (_, index) => new Slot(place(), index, 0))
}

test('a batch takes everything, each once, and empties the outbox', () => {
  const outbox = new Outbox()
  const [one, two] = slots(2)
  outbox.giveBack('r')
  outbox.giveBack('r')
  outbox.cancel('c')
  outbox.acquire(one!)
  outbox.acquire(two!)
  expect(outbox.isEmpty).toBe(false)
  expect(outbox.take()).toMatchObject({ releases: ['r'], cancels: ['c'], acquires: [one, two] })
  expect(outbox.isEmpty).toBe(true)
})

test('an acquire that is withdrawn before it was sent leaves nothing', () => {
  const outbox = new Outbox()
  const [one] = slots(1)
  outbox.acquire(one!)
  one!.state = 'gone'
  outbox.withdrawn()
  expect(outbox.isEmpty).toBe(true)
  expect(outbox.take().acquires).toEqual([])
})

test('thousands of withdrawn acquires leave nothing behind, and the others keep their order', () => {
  const outbox = new Outbox()
  const all = slots(3000)
  for (const slot of all) outbox.acquire(slot)
  const kept = all.filter((_, index) => index % 10 === 0)
  for (const slot of all) {
    if (kept.includes(slot)) continue
    slot.state = 'gone'
    outbox.withdrawn()
  }
  expect(outbox.acquires).toEqual(kept)
  expect(outbox.isEmpty).toBe(false)
  expect(outbox.take().acquires).toEqual(kept)
  expect(outbox.isEmpty).toBe(true)
})

test('a batch holds no more than the store can take; the rest follows, releases first, in order', () => {
  const outbox = new Outbox()
  const all = slots(700)
  for (let index = 0; index < 300; index += 1) outbox.release(`r${index}`)
  for (let index = 0; index < 300; index += 1) outbox.cancel(`c${index}`)
  for (const slot of all) outbox.acquire(slot)
  const sizes: number[][] = []
  const acquired: Slot[] = []
  while (!outbox.isEmpty) {
    const { releases, cancels, acquires } = outbox.take()
    expect(releases.length + cancels.length + acquires.length).toBeLessThanOrEqual(MOST_OPERATIONS)
    sizes.push([releases.length, cancels.length, acquires.length])
    acquired.push(...acquires)
  }
  expect(sizes).toEqual([
    [300, 200, 0],
    [0, 100, 400],
    [0, 0, 300],
  ])
  expect(acquired).toEqual(all)
})

test('who waits for a release that did not fit in a batch waits for the batch that takes it', async () => {
  const outbox = new Outbox()
  for (let index = 0; index <= MOST_OPERATIONS; index += 1) outbox.release(`r${index}`)
  let settled = false
  void outbox.settled.promise.then(() => (settled = true))
  const first = outbox.take()
  first.settled.resolve()
  await Promise.resolve()
  expect(settled).toBe(false)
  const second = outbox.take()
  expect(second.releases).toEqual([`r${MOST_OPERATIONS}`])
  second.settled.resolve()
  await Promise.resolve()
  expect(settled).toBe(true)
})

test('a batch that is put back goes out again before what came later, and who waits for it waits on', async () => {
  const outbox = new Outbox()
  const [one, two] = slots(2)
  outbox.release('r')
  outbox.acquire(one!)
  const batch = outbox.take()
  let settled = false
  void batch.settled.promise.then(() => (settled = true))
  outbox.acquire(two!)
  outbox.putBack(batch)
  const again = outbox.take()
  expect(again).toMatchObject({ releases: ['r'], acquires: [one, two] })
  await Promise.resolve()
  expect(settled).toBe(false)
  again.settled.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(settled).toBe(true)
})

test('a promise that is asked for after its end is resolved', async () => {
  const { settled } = new Outbox().take()
  settled.resolve()
  settled.resolve()
  await expect(settled.promise).resolves.toBeUndefined()
})
