import { matches } from './assertions.js'
import { collect, describe, test, type SuiteTest } from './suite.js'
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
import { timeoutTests } from './adapter/timeouts.js'
import { twoGateTests } from './adapter/twoGates.js'
import { uploadTests } from './adapter/uploads.js'
import { waitingTests } from './adapter/waiting.js'

/**
 * What every framework's adapter must do, on real servers and sockets, as tests for whatever test framework. Describe the framework as an
 * {@link Adapter}, once for each major; what only one framework has is tested beside it.
 * @example
 * describe('my adapter', () => {
 *   for (const { name, run, timeoutMs } of adapterTests(adapter)) it(name, run, timeoutMs)
 * })
 */
export function adapterTests(adapter: Adapter): readonly SuiteTest[] {
  const endTests = adapter.seesHandlerEnd ? seenEndTests : unseenEndTests
  return collect(() => {
    test('runs on the major that it means', () => {
      matches(adapter.version, new RegExp(`^${/\d+$/.exec(adapter.name)![0]}\\.`))
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
      timeoutTests(adapter)
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
    if (adapter.compresses) {
      describe('compression', () => {
        compressionTests(adapter)
      })
    }
    if (adapter.servesHttp2) {
      describe('HTTP/2', () => {
        http2Tests(adapter)
      })
    }
    describe('listeners', () => {
      listenerTests(adapter)
    })
  })
}

export type { SuiteTest } from './suite.js'
export type {
  Adapter,
  AdapterGate,
  AdapterOptions,
  AnyRequest,
  Application,
  Call,
  Compressed,
  Handler,
  Init,
  Layer,
  Plan,
  RefusalHandler,
  Route,
} from './adapter/adapter.js'
export { RawClient } from './adapter/rawHttp.js'
export type { RawResponse } from './adapter/rawHttp.js'
export { siteOf } from './adapter/site.js'
export type { Site } from './adapter/site.js'
export { afterWait, askBoth, cutBoth, finalEvent, twinsOf } from './adapter/twins.js'
export type { Comparison, TwinOptions, Twins } from './adapter/twins.js'
