import type { RawClient } from './rawHttp.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { asksForEvents, headerOf, openGate, openSite, runningIs, waitingIs, type Site } from './site.js'
import { deepEqual, equal, eventually, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { describe, test } from '../suite.js'

const LARGE = 50 * 1024 * 1024
const JSON_TYPE = { 'Content-Type': 'application/json' } as const

/** Ways of asking, and then of leaving while one waits. */
const requests: readonly (readonly [string, (client: RawClient) => void])[] = [
  ['a GET', (client) => client.request('GET', '/read')],
  ['a GET for events', (client) => client.request('GET', '/read', asksForEvents)],
  ['a POST whose body was read', (client) => client.request('POST', '/read', JSON_TYPE, '{"a":1}')],
  ['a POST whose small body nobody reads', (client) => client.request('POST', '/unread', {}, '{"a":1}')],
  [
    'a POST whose body is not complete',
    (client) => client.request('POST', '/unread', { 'Content-Length': '100' }).send('half'),
  ],
]

export function leavingTests(adapter: Adapter): void {
  const openLine = async (options: AdapterOptions = {}) => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0, ...options })
    const ran = spy<(who: string) => void>()
    const handler: Handler = ({ request, text }) => {
      ran(headerOf(request, 'x-who') ?? 'nobody')
      return text('done')
    }
    const site = await openSite(adapter, {
      routes: [
        { method: 'ALL', path: '/read', parsesBody: true, gate, handler },
        { method: 'ALL', path: '/unread', gate, handler },
      ],
    })
    return { site, queue, ran }
  }

  /** Who runs when connections leave the line, a patient one stays, and then a place becomes free. */
  const whoRuns = async (
    { site, queue, ran }: Awaited<ReturnType<typeof openLine>>,
    ask: (client: RawClient) => void,
    leave: (client: RawClient) => void,
    count: number,
  ): Promise<unknown> => {
    const holder = await queue.acquire()
    const clients = await Promise.all(Array.from({ length: count }, () => site.connect()))
    for (const client of clients) ask(client)
    await waitingIs(queue, count)
    const patient = site.get('/read', { 'X-Who': 'patient' })
    await waitingIs(queue, count + 1)
    for (const client of clients) leave(client)
    await waitingIs(queue, 1)
    await holder.release()
    equal((await patient).body, 'done')
    await runningIs(queue, 0)
    return ran.calls
  }

  test.each(requests)(
    'Case 25, B33: with a FIN after %s gives up its place, and its handler never runs',
    async (_what, ask) => {
      deepEqual(await whoRuns(await openLine(), ask, (client) => client.leave(), 5), [['patient']])
    },
  )

  test.each(requests)(
    'Case 25, B33: with a RST after %s gives up its place, and its handler never runs',
    async (_what, ask) => {
      deepEqual(await whoRuns(await openLine(), ask, (client) => client.reset(), 5), [['patient']])
    },
  )

  test('Case 25, B27: by closing its sending half only counts as gone, as in Node itself', async () => {
    const ask = (client: RawClient): void => void client.request('GET', '/read')
    deepEqual(await whoRuns(await openLine(), ask, (client) => client.socket.end(), 5), [['patient']])
  })

  test('B33: with forty-nine others, on connections which they used before, gives up its place, and the patient one is next', async () => {
    const { site, queue, ran } = await openLine()
    const clients = await Promise.all(Array.from({ length: 50 }, () => site.connect()))
    for (const client of clients) await client.request('GET', '/read', { 'X-Who': 'first' }).response()
    ran.calls.length = 0
    const holder = await queue.acquire()
    for (const client of clients) client.request('GET', '/read')
    await waitingIs(queue, 50)
    const patient = site.get('/read', { 'X-Who': 'patient' })
    await waitingIs(queue, 51)
    for (const client of clients) client.leave()
    await waitingIs(queue, 1)
    await holder.release()
    equal((await patient).body, 'done')
    deepEqual(ran.calls, [['patient']])
  })

  const askWithLargeBody = (client: RawClient, headers = ''): void => {
    client.send(`POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE}\r\n${headers}\r\n`)
    client.send(Buffer.alloc(LARGE))
  }

  test('Case 26, B33: from a large upload that nobody reads is found out by the next heartbeats', async () => {
    const line = await openLine({ heartbeatMs: 30 })
    deepEqual(
      await whoRuns(
        line,
        (client) => askWithLargeBody(client, 'Accept: text/event-stream\r\n'),
        (client) => client.reset(),
        2,
      ),
      [['patient']],
    )
  })

  test('Case 26, B33: from a large upload that nobody reads, silently, loses its place after maxWaitMs at the latest', async () => {
    const { site, queue, ran } = await openLine({ maxWaitMs: 200 })
    const holder = await queue.acquire()
    const client = await site.connect()
    askWithLargeBody(client)
    await waitingIs(queue, 1)
    client.reset()
    await waitingIs(queue, 0)
    await holder.release()
    await runningIs(queue, 0)
    deepEqual(ran.calls, [])
  })

  test.each<[string, Record<string, string>]>([
    ['silently', {}],
    ['told of its wait', asksForEvents],
  ])(
    'B33: without a word, as a network does, while it waits %s, loses its place after maxWaitMs at the latest',
    async (_how, headers) => {
      const { site, queue, ran } = await openLine({ maxWaitMs: 200, heartbeatMs: 20 })
      const holder = await queue.acquire()
      const client = (await site.connect()).request('GET', '/read', headers)
      client.socket.pause()
      await waitingIs(queue, 1)
      await waitingIs(queue, 0)
      await holder.release()
      await runningIs(queue, 0)
      deepEqual(ran.calls, [])
      client.leave()
    },
  )

  describe('B27: the signal of a handler', () => {
    const openWatched = async (): Promise<{ site: Site; ends: string[]; aborts: unknown[] }> => {
      const ends: string[] = []
      const aborts: unknown[] = []
      const { gate } = openGate(adapter, { concurrency: 10, abortGraceMs: 0 })
      const watch = ({ res, place: { signal } }: Parameters<Handler>[0]): void => {
        res.on('close', () => ends.push('close'))
        signal.addEventListener('abort', () => aborts.push(signal.reason))
      }
      const quick: Handler = async (call) => {
        watch(call)
        await new Promise((resolve) => setImmediate(resolve))
        return call.text('done')
      }
      const slow: Handler = (call) => {
        watch(call)
        call.raw().write('begun')
      }
      const site = await openSite(adapter, {
        routes: [
          { method: 'ALL', path: '/read', parsesBody: true, gate, handler: quick },
          { method: 'ALL', path: '/unread', gate, handler: quick },
          { path: '/slow', gate, handler: slow },
        ],
      })
      return { site, ends, aborts }
    }

    test.each<[string, (client: RawClient) => Promise<unknown>, number]>([
      ['a GET', (client) => client.request('GET', '/read').response(), 1],
      ['a POST whose body was read', (client) => client.request('POST', '/read', JSON_TYPE, '{}').response(), 1],
      ['a POST whose body was not read', (client) => client.request('POST', '/unread', {}, 'abc').response(), 1],
      [
        'five requests on one connection',
        async (client) => {
          for (let i = 0; i < 5; i += 1) await client.request('GET', '/read').response()
        },
        5,
      ],
      [
        'a pipelined pair',
        async (client) => {
          client.request('GET', '/read').request('GET', '/read')
          await client.response()
          await client.response()
        },
        2,
      ],
    ])('stays quiet for %s that is answered', async (_what, ask, count) => {
      const { site, ends, aborts } = await openWatched()
      const client = await site.connect()
      await ask(client)
      await eventually(() => equal(ends.length, count))
      client.leave()
      deepEqual(aborts, [])
    })

    test.each<[string, (client: RawClient) => void]>([
      ['a FIN', (client) => client.leave()],
      ['a half-close', (client) => client.socket.end()],
      ['a RST', (client) => client.reset()],
    ])('aborts once when the client goes with %s before the answer is complete', async (_what, leave) => {
      const { site, ends, aborts } = await openWatched()
      const client = (await site.connect()).request('GET', '/slow')
      await client.until('begun')
      leave(client)
      await eventually(() => equal(ends.length, 1))
      matches(aborts, [{ code: 'FQ_CANCELLED', name: 'AbortError' }])
    })
  })
}
