import { describe, expect, it } from 'vitest'
import { fetchInTurn, type FetchInTurnInit, type QueueNews } from '@fairqueue/client'
import { eventually, RawServer, stream, type Received } from './rawServer.js'
import { finalEvent, refusalBody, universalPost, wires } from './wire.js'

const { waiting, admitted } = universalPost

/** Answers with these texts and holds the connection. */
const holds =
  (...texts: string[]) =>
  ({ res }: Received): void =>
    stream(res, ...texts)
/** Answers with these texts; when they are on their way, the connection breaks. */
const breaks =
  (...texts: string[]) =>
  ({ res }: Received): void => {
    stream(res, ...texts.slice(0, -1))
    res.write(texts.at(-1), () => res.destroy())
  }
const ends =
  (...texts: string[]) =>
  ({ res }: Received): void => {
    stream(res, ...texts)
    res.end()
  }
const status =
  (code: number, headers: Record<string, string> = {}, body = '') =>
  ({ res }: Received): void =>
    void res.writeHead(code, headers).end(body)
const never = (): never => {
  throw new Error('There was one request too many.')
}

const chat = { method: 'POST', body: 'Who is next?', headers: { 'x-user': 'ann' } } as const

/** The tickets that the requests brought along. */
const ticketsOf = (site: RawServer): unknown[] => site.received.map(({ headers }) => headers['fairqueue-ticket'])

/** Asks, and notes what it is told. */
function ask(site: RawServer, init: FetchInTurnInit = {}): { response: Promise<Response>; news: QueueNews[] } {
  const news: QueueNews[] = []
  return { response: fetchInTurn(site.url, { ...chat, onQueue: (one) => news.push(one), ...init }), news }
}

describe.each(wires)('A connection that breaks while the request waits ($form)', (wire) => {
  it('B36: is taken up again with the ticket, the whole request and the same place', async () => {
    const site = await RawServer.started(
      breaks(wire.waiting(3), wire.waiting(2)),
      ends(wire.waiting(2), wire.heartbeat, wire.admitted, 'data: Hello\n\n'),
      never,
    )
    const { response, news } = ask(site)
    expect(await (await response).text()).toBe('data: Hello\n\n')
    expect(news.map(({ position }) => position)).toEqual([3, 2, 2, 0])
    expect(ticketsOf(site)).toEqual([undefined, 't1'])
    for (const { method, body, headers } of site.received) {
      expect([method, body, headers['x-user']]).toEqual(['POST', chat.body, 'ann'])
      expect(headers.accept).toMatch(/^text\/event-stream,/)
    }
  })
})

describe('A connection that breaks while the request waits', () => {
  it('may end without an error: a stream that says neither admitted nor refused is broken', async () => {
    const site = await RawServer.started(ends(waiting(1)), ends(waiting(1), admitted, 'data: 1\n\n'), never)
    expect(await (await ask(site).response).text()).toBe('data: 1\n\n')
    expect(ticketsOf(site)).toEqual([undefined, 't1'])
  })

  it('may break again and again, and the ticket is the one that was told last', async () => {
    const site = await RawServer.started(
      breaks(waiting(3, 't1')),
      breaks(waiting(2, 't2')),
      breaks(waiting(1, 't3')),
      ends(admitted),
      never,
    )
    expect(await (await ask(site).response).text()).toBe('')
    expect(ticketsOf(site)).toEqual([undefined, 't1', 't2', 't3'])
  })

  it('is taken up when the server or its proxy answers again', async () => {
    const site = await RawServer.started(
      breaks(waiting(1)),
      ({ res }) => res.destroy(),
      status(502),
      status(504, {}, 'Gateway Timeout'),
      status(200, { 'content-type': 'application/json' }, '{"text":"Hello"}'),
      never,
    )
    expect(await (await ask(site).response).json()).toEqual({ text: 'Hello' })
    expect(ticketsOf(site)).toEqual([undefined, 't1', 't1', 't1', 't1'])
  })

  it('is given up after the time that the server keeps a place, with the error of the connection', async () => {
    const site = await RawServer.started(breaks(waiting(1)), ({ res }) => res.destroy())
    const { response } = ask(site, { resume: { graceMs: 300 } })
    await expect(response).rejects.toBeInstanceOf(TypeError)
    expect(site.received.length).toBeGreaterThan(1)
  })

  it('is given up after so many', async () => {
    const site = await RawServer.started(breaks(waiting(1)))
    await expect(ask(site, { resume: { limit: 2 } }).response).rejects.toBeInstanceOf(TypeError)
    expect(ticketsOf(site)).toEqual([undefined, 't1', 't1'])
  })

  it.each([204, 410])(
    'has cost the place when the server knows the ticket no more (%i); nothing is sent again',
    async (code) => {
      const site = await RawServer.started(breaks(waiting(1)), status(code), never)
      await expect(ask(site).response).rejects.toMatchObject({
        name: 'RefusedError',
        status: 410,
        code: 'FQ_PLACE_LOST',
        retryAfterMs: null,
        message: 'The place in the line was lost while the connection was broken.',
      })
    },
  )

  it('comes back with no ticket after a refusal', async () => {
    const refused = finalEvent(503, { body: refusalBody('FQ_WAIT_TIMEOUT', 0) })
    const site = await RawServer.started(
      breaks(waiting(1)),
      ends(waiting(1), refused),
      breaks(waiting(5, 't5')),
      status(503, { 'retry-after': '0' }),
      ends(waiting(5), admitted, 'data: 1\n\n'),
      never,
    )
    expect(await (await ask(site).response).text()).toBe('data: 1\n\n')
    expect(ticketsOf(site)).toEqual([undefined, 't1', undefined, 't5', undefined])
  })

  it.each<[string, FetchInTurnInit]>([
    ['resume is false', { resume: false }],
    ['the body is a stream', { body: new Response('x').body, duplex: 'half' } as FetchInTurnInit],
  ])('is an error at once when %s', async (_when, init) => {
    const site = await RawServer.started(breaks(waiting(1)), never)
    let sent = 0
    const counting: typeof fetch = (input, given) => {
      sent += 1
      return fetch(input, given)
    }
    await expect(ask(site, { ...init, fetch: counting }).response).rejects.toBeInstanceOf(TypeError)
    expect(sent).toBe(1)
  })
})

describe('A connection that breaks later', () => {
  it("is the caller's: once the turn has come nothing is sent again", async () => {
    const site = await RawServer.started(breaks(waiting(1), admitted, 'data: 1\n\n'), never)
    const response = await ask(site).response
    const reader = response.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 1\n\n')
    await expect(reader.read()).rejects.toBeInstanceOf(TypeError)
  })

  it("is the caller's also before the handler's first byte", async () => {
    const site = await RawServer.started(breaks(waiting(1), admitted), never)
    await expect((await ask(site).response).text()).rejects.toBeInstanceOf(TypeError)
  })

  it("or before anything was told is the caller's too", async () => {
    const site = await RawServer.started(({ res }) => res.destroy(), never)
    await expect(ask(site).response).rejects.toBeInstanceOf(TypeError)
  })
})

describe('The signal', () => {
  it.each<[string, (request: Received) => void, news: number]>([
    ['before the head', () => {}, 0],
    ['while the request waits', holds(waiting(1)), 1],
    ['after the turn has come, before the first byte', holds(waiting(1), admitted), 2],
    ['while the handler streams', holds(waiting(1), admitted, 'data: 1\n\n'), 2],
    ['in a stream that never waited', holds('data: 1\n\n'), 0],
  ])('ends it %s', async (_when, answer, told) => {
    const site = await RawServer.started(answer, never)
    const controller = new AbortController()
    const { response, news } = ask(site, { signal: controller.signal })
    const read = response.then((answered) => answered.text())
    read.catch(() => {})
    const { res } = await site.request(0)
    const closed = new Promise((resolve) => res.on('close', resolve))
    await eventually(() => news.length).toBe(told)
    controller.abort()
    await expect(read).rejects.toMatchObject({ name: 'AbortError' })
    await closed
  })

  it('ends it between two attempts to come back, with the reason that it gives', async () => {
    const site = await RawServer.started(breaks(waiting(1)), ({ res }) => res.destroy())
    const controller = new AbortController()
    const { response } = ask(site, { signal: controller.signal })
    response.catch(() => {})
    await site.request(1)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(response).rejects.toBe(reason)
  })

  it('that has aborted already sends nothing', async () => {
    const site = await RawServer.started(never)
    await expect(ask(site, { signal: AbortSignal.abort() }).response).rejects.toMatchObject({ name: 'AbortError' })
    expect(site.received).toEqual([])
  })

  it('of a Request counts as well, unless another is given', async () => {
    const site = await RawServer.started(holds(waiting(1)))
    const controller = new AbortController()
    const response = fetchInTurn(new Request(site.url, { signal: controller.signal }))
    response.catch(() => {})
    await site.request(0)
    controller.abort()
    await expect(response).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('A request', () => {
  it('may be a Request, which can be sent again with its body and headers', async () => {
    const site = await RawServer.started(
      status(503, { 'retry-after': '0' }),
      breaks(waiting(1)),
      ends(waiting(1), admitted, 'data: 1\n\n'),
      never,
    )
    const request = new Request(site.url, { method: 'POST', body: 'Hello', headers: { 'x-user': 'ann' } })
    expect(await (await fetchInTurn(request)).text()).toBe('data: 1\n\n')
    expect(site.received.map(({ body, headers }) => [body, headers['x-user'], headers['fairqueue-ticket']])).toEqual([
      ['Hello', 'ann', undefined],
      ['Hello', 'ann', undefined],
      ['Hello', 'ann', 't1'],
    ])
  })

  it('leaves the headers of the caller as they were', async () => {
    const site = await RawServer.started(breaks(waiting(1)), ends(admitted))
    const headers = new Headers({ 'x-user': 'ann' })
    await fetchInTurn(new URL(site.url), { headers })
    expect([...headers]).toEqual([['x-user', 'ann']])
  })

  it('resolves to a response that knows its status, headers and address', async () => {
    const site = await RawServer.started(ends(waiting(1), admitted, 'data: 1\n\n'))
    const response = await fetchInTurn(site.url)
    expect([response.status, response.ok, response.url]).toEqual([200, true, site.url])
    expect(response.headers.get('x-early')).toBe('yes')
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  it('is not read ahead of the caller', async () => {
    const piece = `data: ${'x'.repeat(65_530)}\n\n`
    const site = await RawServer.started(({ res }) => {
      stream(res, waiting(1), admitted)
      const more = (): void => {
        while (res.write(piece));
        res.once('drain', more)
      }
      more()
    })
    const response = await fetchInTurn(site.url)
    const { res } = await site.request(0)
    // The connection's own buffers take some; then it stands still.
    let sent = 0
    const standsStill = (): boolean => sent === (sent = res.socket!.bytesWritten)
    await expect.poll(standsStill, { interval: 100, timeout: 30_000 }).toBe(true)
    expect(sent).toBeLessThan(32 * 1024 * 1024)
    const closed = new Promise((resolve) => res.on('close', resolve))
    await response.body!.cancel()
    await closed
  })
})
