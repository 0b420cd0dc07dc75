import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Request, Response } from 'express'
import { expect, it } from 'vitest'
import { fairQueue } from '@fairqueue/express'
import { FakeClock } from '@fairqueue/test/kit/fakeClock'

const ROUNDS = 10_000

it.each<[string, boolean]>([
  ['the grant first', true],
  ['the time-out first', false],
])('B32: a grant and a time-out in one tick have one outcome, %s', async (_what, grantFirst) => {
  const clock = new FakeClock()
  const middleware = fairQueue({ concurrency: 1, maxWaitMs: 10, clock })
  const errors: unknown[] = []
  middleware.queue.on('error', (error) => errors.push(error))
  const outcomes = { ran: 0, refused: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const holder = await middleware.queue.acquire()
    const socket = new Socket()
    const req = new IncomingMessage(socket)
    const res = new ServerResponse(req)
    let ran = 0
    middleware(req as Request, res as Response, () => {
      ran += 1
    })
    clock.moveTo(clock.now() + 10)
    if (grantFirst) void holder.release()
    clock.fireDue()
    if (!grantFirst) void holder.release()
    // A grant that came too late went on to whoever is next: here to nobody.
    expect((await middleware.queue.status()).running).toBe(ran)
    expect(ran + Number(res.writableEnded)).toBe(1)
    outcomes[ran === 1 ? 'ran' : 'refused'] += 1
    res.end()
    res.emit('close')
  }
  expect(outcomes).toEqual(grantFirst ? { ran: ROUNDS, refused: 0 } : { ran: 0, refused: ROUNDS })
  expect(errors).toEqual([])
  await middleware.close({ graceMs: 0 })
  expect(clock.pending.foreground).toBe(0)
})

it('B32: a client that goes in the tick of its grant does not run, and its place goes to the next', async () => {
  const middleware = fairQueue({ concurrency: 1 })
  const visit = () => {
    const req = new IncomingMessage(new Socket())
    const res = new ServerResponse(req)
    const state = { req, res, ran: 0 }
    middleware(req as Request, res as Response, () => {
      state.ran += 1
    })
    return state
  }
  const holder = await middleware.queue.acquire()
  const [gone, next] = [visit(), visit()]
  // The socket is dead, but the response's 'close' has not been told yet.
  gone.req.socket.destroy()
  await holder.release()
  expect([gone.ran, next.ran]).toEqual([0, 1])
  await middleware.close({ graceMs: 0 })
})
