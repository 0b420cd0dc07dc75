import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'

import type { Adapter, AdapterOptions, Call, Handler } from './adapter.js'
import { leaveWhileRunning, openOne, type Line } from './line.js'
import { queried, runningIs, waitingIs } from './site.js'
import { above, equal, eventually, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

/** A handler that throws into the framework, whatever the framework's types say of it. */
const boom = (): never => {
  throw new Error('boom')
}

export function slotTests(adapter: Adapter): void {
  const openLine = (handler: Handler, options?: AdapterOptions): Promise<Line> => openOne(adapter, handler, options)

  test('is held until the last byte of a streamed answer', async () => {
    const bodies: PassThrough[] = []
    const { site, queue } = await openLine(({ stream }) => {
      const body = new PassThrough()
      body.write('first')
      bodies.push(body)
      return stream(body)
    })
    const client = (await site.connect()).request('GET', '/')
    await client.until('first')
    const next = site.get('/')
    await waitingIs(queue, 1)
    bodies[0]!.write('second')
    await client.until('second')
    equal(bodies.length, 1)
    bodies[0]!.end('last')
    await eventually(() => equal(bodies.length, 2))
    bodies[1]!.end()
    await next
    await runningIs(queue, 0)
    client.leave()
  })

  test("is held until the last byte that goes through Node's own response", async () => {
    const responses: ServerResponse[] = []
    const { site, queue } = await openLine(({ raw }) => {
      const res = raw()
      res.write('first')
      responses.push(res)
    })
    const client = (await site.connect()).request('GET', '/')
    await client.until('first')
    const next = site.get('/')
    await waitingIs(queue, 1)
    responses[0]!.write('second')
    await client.until('second')
    equal(responses.length, 1)
    responses[0]!.end('last')
    await eventually(() => equal(responses.length, 2))
    responses[1]!.end()
    await next
    await runningIs(queue, 0)
    client.leave()
  })

  test.each<[string, Handler]>([
    ['throws', boom],
    ['rejects', () => Promise.reject(new Error('boom'))],
    [
      'cuts its own answer',
      ({ raw }) => {
        const res = raw()
        res.write('first', () => res.destroy())
      },
    ],
  ])('is free again after a handler that %s', async (_what, handler) => {
    const { site, queue } = await openLine(handler, { abortGraceMs: 0 })
    const client = (await site.connect()).request('GET', '/')
    await eventually(async () => equal((await queue.status()).grants, 1))
    await runningIs(queue, 0)
    equal((await queue.status()).free, 1)
    client.leave()
  })

  test('B01: leaks from no kind of end, however often', async () => {
    let bad = true
    const { site, queue } = await openLine(
      ({ request, raw, text }) => {
        const how = queried(request, 'how')
        if (how === 'throw') return boom()
        if (how === undefined) return text('fine')
        raw().write('first')
        return how === 'late' ? boom() : undefined
      },
      { concurrency: 2, abortGraceMs: 0 },
    )
    const trickle = (async () => {
      while (bad) equal((await site.get('/')).body, 'fine')
    })()
    const leaveAfterFirst = async (path: string): Promise<void> => {
      const client = (await site.connect()).request('GET', path)
      await client.until('first')
      client.leave()
    }
    for (let i = 0; i < 50; i += 1) await leaveAfterFirst('/?how=stream')
    for (let i = 0; i < 20; i += 1) equal((await site.get('/?how=throw')).status, 500)
    for (let i = 0; i < 20; i += 1) await leaveAfterFirst('/?how=late')
    bad = false
    await trickle
    await runningIs(queue, 0)
    const [first, second] = await Promise.all([queue.acquire({ maxWaitMs: 0 }), queue.acquire({ maxWaitMs: 0 })])
    await Promise.all([first.release(), second.release()])
  })

  test('whose client has gone is kept for leaseMs at the most', async () => {
    const { queue, finish } = await leaveWhileRunning(adapter, { leaseMs: 150, abortGraceMs: '1m' })
    equal((await queue.status()).running, 1)
    await runningIs(queue, 0)
    finish()
  })

  test('is held by a client that does not read for sendGraceMs at the most', async () => {
    let closed = false
    let endedAtMs = 0
    const { site, queue } = await openLine(
      ({ raw }) => {
        const res = raw()
        res.on('close', () => (closed = true))
        res.end(Buffer.alloc(50 * 1024 * 1024))
        endedAtMs = performance.now()
      },
      { sendGraceMs: 200 },
    )
    const released = new Promise<number>((resolve) => {
      queue.on('released', () => resolve(performance.now()))
    })
    const client = await site.connect()
    client.socket.pause()
    client.request('GET', '/')
    above((await released) - endedAtMs, 150)
    equal(closed, false)
    client.leave()
  })

  test('that is lost aborts the signal, goes to the next, and its answer still arrives', async () => {
    const requests: { readonly place: Call['place']; readonly res: ServerResponse }[] = []
    const { site, queue } = await openLine(({ place, raw }) => void requests.push({ place, res: raw() }), {
      leaseMs: 300,
    })
    const aborted = spy<(reason: unknown) => void>()
    const first = site.get('/')
    await eventually(() => equal(requests.length, 1))
    const { signal } = requests[0]!.place
    signal.addEventListener('abort', () => aborted(signal.reason))
    const second = site.get('/')
    await eventually(() => equal(requests.length, 2))
    matches(aborted.calls, [[{ code: 'FQ_LEASE_LOST', lostBy: 'expired' }]])
    requests[0]!.res.end('late')
    equal((await first).body, 'late')
    equal((await queue.status()).running, 1)
    requests[1]!.res.end('second')
    equal((await second).body, 'second')
    await runningIs(queue, 0)
  })
}
