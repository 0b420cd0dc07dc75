import { collect, describe, type SuiteTest } from './suite.js'
import { badValueTests } from './store/badValues.js'
import { closingTests } from './store/closing.js'
import { eventTests } from './store/events.js'
import { keyCapsTests } from './store/keyCaps.js'
import { leaseTests } from './store/leases.js'
import { limitTests } from './store/limit.js'
import { nameTests } from './store/names.js'
import { positionTests } from './store/positions.js'
import { resumeTests } from './store/resuming.js'
import { settingsTests } from './store/settings.js'
import { waitTests } from './store/waits.js'
import type { MakeWorld } from './store/world.js'

/**
 * What every store must do, as tests for whatever test framework. `makeWorld` is called within each test.
 * @example
 * describe('my store', () => {
 *   for (const { name, run, timeoutMs } of storeTests(makeWorld)) it(name, run, timeoutMs)
 * })
 */
export function storeTests(makeWorld: MakeWorld): readonly SuiteTest[] {
  return collect(() => {
    describe('the limit', () => {
      limitTests(makeWorld)
    })
    describe('caps per key', () => {
      keyCapsTests(makeWorld)
    })
    describe('waiting', () => {
      waitTests(makeWorld)
    })
    describe('resuming', () => {
      resumeTests(makeWorld)
    })
    describe('leases', () => {
      leaseTests(makeWorld)
    })
    describe('settings', () => {
      settingsTests(makeWorld)
    })
    describe('closing', () => {
      closingTests(makeWorld)
    })
    describe('positions', () => {
      positionTests(makeWorld)
    })
    describe('events', () => {
      eventTests(makeWorld)
    })
    describe('names', () => {
      nameTests(makeWorld)
    })
    describe('bad values', () => {
      badValueTests(makeWorld)
    })
  })
}

export type { SuiteTest } from './suite.js'
export type { MakeWorld, StoreWorld, WorldQueueOptions } from './store/world.js'
