import { describe, expect, it } from 'vitest'
import { FakeClock } from '@fairqueue/core/testing'
import { within } from '../../src/http/deadline.js'

describe('within', () => {
  it('gives what was promised in time, and leaves no timer', async () => {
    const clock = new FakeClock()
    expect(await within(1000, clock, 'skip', Promise.resolve(5))).toBe(5)
    await expect(within(1000, clock, 'skip', Promise.reject(new Error('boom')))).rejects.toThrow('boom')
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
  })

  it('gives up after a while, and cares no more for what comes late', async () => {
    const clock = new FakeClock()
    let fail = (_error: Error): void => undefined
    const late = within(1000, clock, 'keyGenerator', new Promise((_resolve, reject) => (fail = reject)))
    const found = late.catch((error: unknown) => error)
    await clock.advance(1000)
    expect(await found).toMatchObject({ code: 'FQ_INVALID_OPTION', option: 'keyGenerator' })
    fail(new Error('late'))
  })
})
