import { breathe, FakeClock } from '@fairqueue/core/testing'
import { expect, test } from 'vitest'
import type { ExchangeReply, Exchanger, ExchangerListener } from '../../src/store/exchanger.js'
import { NO_KEY_CAPS } from '../../src/store/keyCaps.js'
import { RemoteInstance } from '../../src/store/remoteInstance.js'
import { place } from './place.js'

const declared = {
  concurrency: 1,
  maxQueueSize: 10,
  maxWaitMs: 1000,
  leaseMs: 1000,
  enabled: true,
  perKey: NO_KEY_CAPS,
}

function open(replies: ExchangeReply[]) {
  const troubles: unknown[] = []
  const exchanger: Exchanger = {
    instance: 'i.1',
    ready: true,
    exchange: () => Promise.resolve(replies.shift()!),
    rejoin: () => Promise.reject(new Error('not expected')),
    configure: () => Promise.reject(new Error('not expected')),
    status: () => Promise.reject(new Error('not expected')),
    know: () => undefined,
    close: () => undefined,
  }
  const instance = new RemoteInstance(
    {
      name: 'q',
      declared,
      livenessMs: 10_000,
      pollIntervalMs: 1000,
      bootGraceMs: 0,
      storeTimeoutMs: 1000,
      goesOnAlone: false,
      clock: new FakeClock(),
      listener: {
        settingsChanged: () => undefined,
        configConflict: () => undefined,
        healthChanged: () => undefined,
        aloneChanged: () => undefined,
        wakeChannelChanged: () => undefined,
        troubled: (error) => troubles.push(error),
      },
    },
    (_listener: ExchangerListener) => exchanger,
  )
  return { instance, troubles }
}

test('an answer that makes no sense leaves nobody waiting for ever, and the queue goes on', async () => {
  const granted: ExchangeReply = {
    word: 'ok',
    epoch: '1',
    verdicts: { first: 1000, words: 'g', grants: [], news: [] },
    nextMs: 1000,
    graceMs: 0,
    waiting: 0,
    settings: null,
    more: false,
    full: null,
  }
  const { instance, troubles } = open([{ word: 'stale' }, granted])
  const [one, two] = [place(), place()]
  instance.enter(one)
  await breathe()
  expect(one.told).toEqual(['refused unavailable'])
  expect(troubles).toHaveLength(1)
  instance.enter(two)
  await breathe()
  expect(two.told).toEqual(['granted'])
})
