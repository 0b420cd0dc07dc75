import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http'
import { Socket } from 'node:net'

import type { FairQueue } from '../../index.js'
import { FakeClock } from '../fakeClock.js'
import type { Adapter } from './adapter.js'
import { openGate, openSite } from './site.js'
import { deepEqual, equal } from '../assertions.js'
import { test } from '../suite.js'

const ROUNDS = 10_000

/** All that is ready has run. */
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A request without a connection, at a place in the line when this resolves. */
async function ask(
  listener: RequestListener,
  queue: FairQueue,
): Promise<{ req: IncomingMessage; res: ServerResponse }> {
  const before = (await queue.status()).local.waiting
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { method: 'GET', url: '/', httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
  const res = new ServerResponse(req)
  listener(req, res)
  while ((await queue.status()).local.waiting === before) await tick()
  return { req, res }
}

export function raceTests(adapter: Adapter): void {
  test.each<[string, boolean]>([
    ['the grant first', true],
    ['the time-out first', false],
  ])(
    'B32: a grant and a time-out in one tick have one outcome, %s',
    async (_what, grantFirst) => {
      const clock = new FakeClock()
      const { gate, queue } = openGate(adapter, { concurrency: 1, maxWaitMs: 10, clock })
      const errors: unknown[] = []
      queue.on('error', (error) => errors.push(error))
      let ran = 0
      const { listener } = await openSite(adapter, {
        routes: [
          {
            path: '/',
            gate,
            handler: ({ raw }) => {
              raw()
              ran += 1
            },
          },
        ],
      })
      const outcomes = { ran: 0, refused: 0 }
      for (let round = 0; round < ROUNDS; round += 1) {
        const holder = await queue.acquire()
        const { res } = await ask(listener, queue)
        ran = 0
        clock.moveTo(clock.now() + 10)
        if (grantFirst) void holder.release()
        clock.fireDue()
        if (!grantFirst) void holder.release()
        await tick()
        // A grant that came too late went on to whoever is next: here to nobody.
        equal((await queue.status()).running, ran)
        equal(ran + Number(res.writableEnded), 1)
        outcomes[ran === 1 ? 'ran' : 'refused'] += 1
        res.end()
        res.emit('close')
        await tick()
      }
      deepEqual(outcomes, grantFirst ? { ran: ROUNDS, refused: 0 } : { ran: 0, refused: ROUNDS })
      deepEqual(errors, [])
      await gate.close({ graceMs: 0 })
      equal(clock.pending.foreground, 0)
    },
    { timeoutMs: 60_000 },
  )

  test('B32: a client that goes in the tick of its grant does not run, and its place goes to the next', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1 })
    const ran: IncomingMessage[] = []
    const { listener } = await openSite(adapter, {
      routes: [
        {
          path: '/',
          gate,
          handler: ({ req, raw }) => {
            raw()
            ran.push(req)
          },
        },
      ],
    })
    const holder = await queue.acquire()
    const [gone, next] = [await ask(listener, queue), await ask(listener, queue)]
    // The socket is dead, but the response's 'close' has not been told yet.
    gone.req.socket.destroy()
    await holder.release()
    await tick()
    deepEqual(
      ran.map((req) => req === next.req),
      [true],
    )
  })
}
