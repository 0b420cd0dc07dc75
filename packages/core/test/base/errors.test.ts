import { expect, test } from 'vitest'
import {
  CancelledError,
  ConflictError,
  DrainingError,
  FairQueueError,
  isFairQueueError,
  LeaseLostError,
  OptionError,
  PermitsError,
  QueueFullError,
  StoreUnavailableError,
  WaitTimeoutError,
} from '../../src/base/errors.js'

const cause = new Error('why')

test.each([
  [new QueueFullError('m', { cause, retryAfterMs: 5 }), 'QueueFullError', 'FQ_QUEUE_FULL', 503, 5],
  [new WaitTimeoutError('m', { cause }), 'WaitTimeoutError', 'FQ_WAIT_TIMEOUT', 503, null],
  [new StoreUnavailableError('m', { cause }), 'StoreUnavailableError', 'FQ_STORE_UNAVAILABLE', 503, null],
  [new DrainingError('m', { cause }), 'DrainingError', 'FQ_DRAINING', 503, null],
  [new PermitsError('m', 400, { cause }), 'PermitsError', 'FQ_PERMITS_EXCEED_LIMIT', 400, null],
  [new CancelledError('m', { cause }), 'AbortError', 'FQ_CANCELLED', 499, null],
  [new LeaseLostError('m', 'expired', 7, { cause }), 'LeaseLostError', 'FQ_LEASE_LOST', 0, null],
])('%s says what it is in every way', (error, name, code, status, retryAfterMs) => {
  expect(error).toMatchObject({ name, code, status, retryAfterMs, cause, message: 'm' })
  expect(error).toBeInstanceOf(FairQueueError)
  expect(error).toBeInstanceOf(Error)
  expect(isFairQueueError(error)).toBe(true)
})

test('errors that explain carry what they explain', () => {
  expect(new ConflictError('m', 7)).toMatchObject({ code: 'FQ_CONFLICT', status: 409, version: 7 })
  expect(new OptionError('permits', 'm')).toMatchObject({ code: 'FQ_INVALID_OPTION', option: 'permits' })
  expect(new LeaseLostError('m', 'taken', 9)).toMatchObject({ lostBy: 'taken', heldMs: 9 })
  expect('cause' in new OptionError('permits', 'm')).toBe(false)
})

test('an error of another loaded copy is recognised by its brand; other things are not', () => {
  const foreign = Object.defineProperty(new Error('x'), Symbol.for('fairqueue.error'), { value: true })
  expect(isFairQueueError(foreign)).toBe(true)
  for (const other of [new Error('x'), null, undefined, 'FQ_QUEUE_FULL', { code: 'FQ_QUEUE_FULL' }]) {
    expect(isFairQueueError(other)).toBe(false)
  }
})
