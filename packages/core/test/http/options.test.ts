import { describe, expect, it } from 'vitest'
import { FairQueue, MemoryStore, OptionError } from '@fairqueue/core'
import { openGate, withDefaults, type GateOptions } from '@fairqueue/core/http'
import { resolveHttpOptions } from '../../src/http/resolvedOptions.js'

const numbers = [-1, 0.5, 1e21, Number.NaN, Infinity, -Infinity, '5', '', null, true, 5n, [], { valueOf: () => 5 }]
const durations = [-1, Number.NaN, Infinity, -Infinity, '5', '', '-1s', null, true, 5n, [], { valueOf: () => 5 }]
const words = ['', 'AUTO', 0, 1, null, true, {}, []]
const functions = [0, 1, 'x', null, true, {}, []]

const bad: Readonly<Record<string, readonly unknown[]>> = {
  queue: [0, 'chat', null, true, {}, []],
  keyGenerator: functions,
  skip: functions,
  handler: functions,
  onRejected: functions,
  permits: [...numbers, 0],
  maxWaitMs: durations,
  statusDelayMs: durations,
  heartbeatMs: [...durations, 0],
  abortGraceMs: durations,
  sendGraceMs: durations,
  upload: [0, 1, '', 'true', null, {}, []],
  sse: words,
  sseFormat: [...words, 'comments', 'toString'],
  statusCode: [...numbers.slice(0, -1), 0, 200, 399, 600],
  message: [0, 1, null, true, 5n],
  standardHeaders: [...words, 'draft-9', 'draft-5', 'toString', '__proto__', 7],
  retryAfter: [0, 1, null, true, 'x'],
  logger: [0, 'x', null, true, {}],
}

describe('options of a middleware', () => {
  it.each(Object.entries(bad).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'B29: refuse %s: %o, by name',
    (name, value) => {
      const open = (): unknown => openGate({ concurrency: 1, [name]: value })
      expect(open).toThrow(OptionError)
      expect(open).toThrow(`"${name}`)
    },
  )

  it.each<[string, object]>([
    ['statusCode.FQ_QUEUE_FULL', { statusCode: { FQ_QUEUE_FULL: 'x' } }],
    ['FQ_RATE_LIMITED', { statusCode: { FQ_RATE_LIMITED: 429 } }],
    ['retryAfter.maxMs', { retryAfter: { maxMs: 999 } }],
    ['retryAfter.jitter', { retryAfter: { jitter: 1.1 } }],
    ['jiter', { retryAfter: { jiter: 1 } }],
    ['concurency', { concurency: 1 }],
    ['concurrency', { concurrency: -1 }],
    ['concurrency', { concurrency: () => 1 }],
    ['rate', { rate: {} }],
    ['breaker', { breaker: {} }],
    ['perKey', { perKey: {} }],
    ['perKey', { perKey: () => ({}), keyGenerator: () => 'ann' }],
    ['perKey', { perKey: null, keyGenerator: () => 'ann' }],
    ['perKey.concurrency', { perKey: { concurrency: () => 1 }, keyGenerator: () => 'ann' }],
    ['concurency', { perKey: { concurency: 1 }, keyGenerator: () => 'ann' }],
    ['order', { order: 'fair' }],
  ])('refuse what is wrong with %s', (name, options) => {
    expect(() => openGate({ concurrency: 1, ...options })).toThrow(`"${name}"`)
  })

  it.each(['concurrency', 'store', 'name', 'leaseMs', 'enabled', 'perKey', 'onStoreError', 'statusIntervalMs'])(
    'refuse %s beside a queue, which brings its own',
    (name) => {
      const queue = new FairQueue({ concurrency: 1 })
      expect(() => resolveHttpOptions({ queue, [name]: 1 })).toThrow(`"${name}" belongs to the queue`)
      expect(resolveHttpOptions({ queue, [name]: undefined })).toMatchObject({ queue })
    },
  )

  it('have these defaults', () => {
    expect(resolveHttpOptions({})).toMatchObject({
      queue: null,
      permits: 1,
      statusDelayMs: 250,
      heartbeatMs: 15_000,
      sse: 'auto',
      abortGraceMs: 5000,
      sendGraceMs: 10_000,
      retryAfter: { maxMs: 3_600_000, jitter: 0 },
    })
  })

  it('give maxWaitMs to the queue that is made, and keep it for themselves beside a given one', () => {
    expect(resolveHttpOptions({ maxWaitMs: '2s' })).toMatchObject({
      maxWaitMs: undefined,
      queueOptions: { maxWaitMs: '2s' },
    })
    const queue = new FairQueue({ concurrency: 1 })
    expect(resolveHttpOptions({ queue, maxWaitMs: '2s' })).toMatchObject({ maxWaitMs: 2000 })
  })

  it('over defaults: what is given wins, and a given queue needs no defaults for making one', () => {
    const defaults: GateOptions<unknown> = {
      store: new MemoryStore(),
      concurrency: 5,
      heartbeatMs: '5s',
      sse: 'always',
    }
    expect(withDefaults(defaults, { sse: 'never' })).toEqual({ ...defaults, sse: 'never' })
    const queue = new FairQueue({ concurrency: 1 })
    expect(withDefaults(defaults, { queue })).toEqual({ queue, heartbeatMs: '5s', sse: 'always' })
    expect(() => openGate(withDefaults(defaults, { queue, concurrency: 2 }))).toThrow(
      '"concurrency" belongs to the queue',
    )
  })
})
