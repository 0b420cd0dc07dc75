import { FakeClock } from '@fairqueue/core/testing'
import { expect, test } from 'vitest'
import { MemoryStore } from '../../src/memory/memoryStore.js'
import type { Instance, InstanceListener } from '../../src/store/contract.js'
import { NO_KEY_CAPS } from '../../src/store/keyCaps.js'
import { place } from '../store/place.js'

const listener: InstanceListener = {
  settingsChanged: () => undefined,
  configConflict: () => undefined,
  healthChanged: () => undefined,
  aloneChanged: () => undefined,
  wakeChannelChanged: () => undefined,
  troubled: () => undefined,
}

function join(store: MemoryStore): Instance {
  return store.join({
    name: 'q',
    declared: { concurrency: 1, maxQueueSize: 10, maxWaitMs: 1000, leaseMs: 1000, enabled: true, perKey: NO_KEY_CAPS },
    livenessMs: 10_000,
    pollIntervalMs: 1000,
    bootGraceMs: 0,
    storeTimeoutMs: 1000,
    goesOnAlone: false,
    clock: new FakeClock(),
    listener,
  })
}

test('an instance that leaves gives up what it holds, waiting or running, and the next of another runs', async () => {
  const store = new MemoryStore()
  const [leaving, staying] = [join(store), join(store)]
  const [running, waiting, next] = [place(), place(), place()]
  leaving.enter(running)
  leaving.enter(waiting)
  staying.enter(next)
  await leaving.leave(0)
  expect(next.told).toEqual(['queued 2', 'granted'])
  expect([running.told, waiting.told]).toEqual([['granted'], ['queued 1']])
  expect(await staying.status([next])).toMatchObject({ waiting: 0, running: 1, instances: 1, positions: [null] })
  await staying.leave(0)
  await store.close()
})

test('a place that was given up can be given up again, to no effect', async () => {
  const store = new MemoryStore()
  const instance = join(store)
  const [running, waiting] = [place(), place()]
  instance.enter(running)
  instance.enter(waiting)
  const { slot } = waiting
  await instance.giveUp(waiting)
  waiting.slot = slot
  await instance.giveUp(waiting)
  await instance.giveUp(place())
  expect(await instance.status([])).toMatchObject({ waiting: 0, running: 1 })
})

test('a release within the callback of a grant hands on without deepening the stack', () => {
  const store = new MemoryStore()
  const instance = join(store)
  const first = place()
  instance.enter(first)
  let granted = 0
  const line = Array.from({ length: 10 }, () => {
    const quick = place()
    quick.onGranted = () => {
      granted += 1
      void instance.giveUp(quick)
    }
    instance.enter(quick)
    return quick
  })
  void instance.giveUp(first)
  expect(granted).toBe(line.length)
})
