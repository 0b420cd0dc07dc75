import { describe, expect, it } from 'vitest'
import { FakeClock } from '@fairqueue/core/testing'
import { SendWatch, type Sending, type WatchNote } from '../../src/http/sendWatch.js'

class Response implements Sending {
  readonly watchNote: WatchNote = { index: -1, endedAtMs: undefined }
  responseEnded = false
  doneAtMs: number | undefined
  readonly #clock: FakeClock
  readonly #watch: SendWatch

  constructor(clock: FakeClock, watch: SendWatch) {
    this.#clock = clock
    this.#watch = watch
    watch.watch(this)
  }

  responseDone(): void {
    this.doneAtMs = this.#clock.now()
    this.#watch.forget(this)
  }
}

describe('SendWatch', () => {
  it('frees a place once its response has been ended for the grace, and no other', async () => {
    const clock = new FakeClock()
    const watch = new SendWatch(clock, 10_000)
    const [ended, running] = [new Response(clock, watch), new Response(clock, watch)]
    await clock.advance(5500)
    ended.responseEnded = true
    await clock.advance(60_000)
    expect(ended.doneAtMs).toBe(15_000)
    expect(running.doneAtMs).toBeUndefined()
  })

  it('keeps the others in its list when some leave it, in any order', async () => {
    const clock = new FakeClock()
    const watch = new SendWatch(clock, 1000)
    const responses = Array.from({ length: 5 }, () => new Response(clock, watch))
    for (const index of [0, 4, 2, 2]) watch.forget(responses[index]!)
    for (const response of responses) response.responseEnded = true
    await clock.advance(2000)
    expect(responses.map(({ doneAtMs }) => doneAtMs)).toEqual([undefined, 1000, undefined, 1000, undefined])
  })

  it('frees it at the next look when there is no grace', async () => {
    const clock = new FakeClock()
    const response = new Response(clock, new SendWatch(clock, 0))
    response.responseEnded = true
    await clock.advance(1000)
    expect(response.doneAtMs).toBe(20)
  })

  it('does not take a blocked event loop for an unread response', async () => {
    const clock = new FakeClock()
    const response = new Response(clock, new SendWatch(clock, 10_000))
    response.responseEnded = true
    await clock.jump(60_000)
    expect(response.doneAtMs).toBeUndefined()
    await clock.advance(9000)
    expect(response.doneAtMs).toBe(69_000)
  })

  it('B28: has no timer left when nothing is sent any more', async () => {
    const clock = new FakeClock()
    const watch = new SendWatch(clock, 10_000)
    const response = new Response(clock, watch)
    watch.forget(response)
    await clock.advance(1000)
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
  })
})
