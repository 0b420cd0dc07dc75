import { describe, expect, it } from 'vitest'
import type { Adapter } from './adapter/adapter.js'
import { compressionTests } from './adapter/compression.js'
import { seenEndTests, unseenEndTests } from './adapter/handlerEnds.js'
import { handlerTests } from './adapter/handlers.js'
import { http2Tests } from './adapter/http2.js'
import { keyCapsTests } from './adapter/keyCaps.js'
import { keyTests } from './adapter/keys.js'
import { leavingTests } from './adapter/leaving.js'
import { listenerTests } from './adapter/listeners.js'
import { mountingTests } from './adapter/mounting.js'
import { passingTests } from './adapter/passing.js'
import { raceTests } from './adapter/races.js'
import { refusalTests } from './adapter/refusals.js'
import { resumingTests } from './adapter/resuming.js'
import { slotTests } from './adapter/slots.js'
import { storeFailureTests } from './adapter/storeFailures.js'
import { switchingTests } from './adapter/switching.js'
import { twoGateTests } from './adapter/twoGates.js'
import { uploadTests } from './adapter/uploads.js'
import { waitingTests } from './adapter/waiting.js'

/**
 * What every framework's adapter must do, on real servers and sockets. To join, describe the framework as an {@link Adapter} and call this
 * in a test file of its own for each major; what only one framework has is tested beside it.
 */
export function adapterSuite(adapter: Adapter): void {
  const endTests = adapter.seesHandlerEnd ? seenEndTests : unseenEndTests
  describe(`the adapter suite on ${adapter.name}`, () => {
    it('runs on the major that it means', () => {
      expect(adapter.version).toMatch(new RegExp(`^${/\d+$/.exec(adapter.name)![0]}\\.`))
    })
    describe('mounted', () => {
      mountingTests(adapter)
    })
    describe('a request that is let in', () => {
      passingTests(adapter)
    })
    describe('keyGenerator', () => {
      keyTests(adapter)
    })
    describe('perKey', () => {
      keyCapsTests(adapter)
    })
    describe('a waiting client', () => {
      waitingTests(adapter)
    })
    describe('a client that leaves', () => {
      leavingTests(adapter)
    })
    describe('a place without a client', () => {
      resumingTests(adapter)
    })
    describe('a refused request', () => {
      refusalTests(adapter)
    })
    describe('while the store is away', () => {
      storeFailureTests(adapter)
    })
    describe('a place', () => {
      slotTests(adapter)
      endTests(adapter)
    })
    describe('two gates', () => {
      twoGateTests(adapter)
    })
    describe('an upload', () => {
      uploadTests(adapter)
    })
    describe('switched', () => {
      switchingTests(adapter)
    })
    describe('races', () => {
      raceTests(adapter)
    })
    describe('a handler behind an early head', () => {
      handlerTests(adapter)
    })
    describe('compression', () => {
      compressionTests(adapter)
    })
    describe.each(adapter.servesHttp2 ? [http2Tests] : [])('HTTP/2', (tests) => {
      tests(adapter)
    })
    describe('listeners', () => {
      listenerTests(adapter)
    })
  })
}
