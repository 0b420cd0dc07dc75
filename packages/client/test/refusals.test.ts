import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchInTurn, RefusedError, type FetchInTurnInit, type QueueNews } from '@fairqueue/client'
import { finalEvent, refusalBody, universalPost, wires } from './wire.js'

type Answer = () => Response

const problem =
  (status: number, code: string, retryAfter?: number | string, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(JSON.stringify({ ...refusalBody(code), status }), {
      status,
      headers: {
        'content-type': 'application/problem+json',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
        ...headers,
      },
    })
const events =
  (text: string): Answer =>
  () =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const ok: Answer = () => new Response('Hello', { headers: { 'x-handler': 'yes' } })

/** A `fetch` that gives these answers one after the other, and when they were asked for. */
function answering(...answers: Answer[]): { fetch: typeof fetch; askedAtMs: number[]; inits: RequestInit[] } {
  const askedAtMs: number[] = []
  const inits: RequestInit[] = []
  const send: typeof fetch = (_input, init) => {
    askedAtMs.push(Date.now())
    inits.push(init ?? {})
    return Promise.resolve(answers[askedAtMs.length - 1]!())
  }
  return { fetch: send, askedAtMs, inits }
}

async function refusalOf(promise: Promise<unknown>): Promise<RefusedError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RefusedError)
  return error as RefusedError
}

describe('A refused request', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 })
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  const ask = (site: { fetch: typeof fetch }, init: FetchInTurnInit = {}): Promise<Response> => {
    const asked = fetchInTurn('http://here/', { fetch: site.fetch, ...init })
    // Handled where it is awaited; this one is for the time until then.
    asked.catch(() => {})
    return asked
  }

  it('B25: comes back when the server said, and a random share later, never earlier', async () => {
    const site = answering(problem(503, 'FQ_QUEUE_FULL', 4), problem(503, 'FQ_QUEUE_FULL', 2), ok)
    const news: QueueNews[] = []
    const asked = ask(site, { onQueue: (one) => news.push(one) })
    await vi.runAllTimersAsync()
    expect(await (await asked).text()).toBe('Hello')
    expect(site.askedAtMs).toEqual([0, 4500, 4500 + 2250])
    expect(news).toEqual([
      { state: 'refused', position: null, etaMs: 4500 },
      { state: 'refused', position: null, etaMs: 2250 },
    ])
  })

  it('comes back at the date that the server said', async () => {
    const at = { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }
    const site = answering(problem(429, 'FQ_RATE_LIMITED', 'Thu, 01 Jan 2026 00:00:10 GMT', at), ok)
    const asked = ask(site, { retry: { jitter: 0 } })
    await vi.runAllTimersAsync()
    expect((await asked).ok).toBe(true)
    expect(site.askedAtMs).toEqual([0, 10_000])
  })

  it('goes by the number in the body where the header cannot be read', async () => {
    const body = JSON.stringify(refusalBody('FQ_QUEUE_FULL', 3))
    const site = answering(() => new Response(body, { status: 503 }), ok)
    const asked = ask(site, { retry: { jitter: 0 } })
    await vi.runAllTimersAsync()
    expect((await asked).ok).toBe(true)
    expect(site.askedAtMs).toEqual([0, 3000])
  })

  it('is thrown once it has come back as often as it may, with all that the server said', async () => {
    const site = answering(...Array.from({ length: 9 }, () => problem(503, 'FQ_QUEUE_FULL', 1)))
    const asked = ask(site)
    await vi.runAllTimersAsync()
    const error = await refusalOf(asked)
    expect(site.askedAtMs).toHaveLength(4)
    expect(error).toMatchObject({
      name: 'RefusedError',
      message: 'The line is full.',
      status: 503,
      code: 'FQ_QUEUE_FULL',
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      retryAfterMs: 1000,
      body: { code: 'FQ_QUEUE_FULL', detail: 'The line is full.' },
    })
  })

  it.each<[string, Answer, FetchInTurnInit]>([
    ['retry is false', problem(503, 'FQ_QUEUE_FULL', 1), { retry: false }],
    ['the limit is 0', problem(503, 'FQ_QUEUE_FULL', 1), { retry: { limit: 0 } }],
    ['it is told to stay away for too long', problem(503, 'FQ_QUEUE_FULL', 61), {}],
    ['nobody says when to come back', problem(503, 'FQ_QUEUE_FULL'), {}],
    ['nobody says when to come back in a way that makes sense', problem(429, 'FQ_KEY_LIMIT', 'later'), {}],
    ['coming back cannot help', problem(400, 'FQ_PERMITS_EXCEED_LIMIT'), {}],
    ['its body is a stream', problem(503, 'FQ_QUEUE_FULL', 1), { method: 'POST', body: new ReadableStream() }],
  ])('is thrown at once when %s', async (_when, answer, init) => {
    const site = answering(answer)
    const error = await refusalOf(ask(site, init))
    expect(error.code).toMatch(/^FQ_/)
    expect(site.askedAtMs).toEqual([0])
  })

  it('waits for no longer than a timer can, and does not come back at once instead', async () => {
    const site = answering(problem(503, 'FQ_QUEUE_FULL', 10_000_000), ok)
    void ask(site, { retry: { maxDelayMs: Infinity } })
    await vi.advanceTimersByTimeAsync(24 * 24 * 3_600_000)
    expect(site.askedAtMs).toEqual([0])
  })

  it.each(wires)('in the middle of the wait is the same ($form)', async (wire) => {
    const told = (retryAfter: number): Answer =>
      events(wire.waiting(1) + finalEvent(503, { body: refusalBody('FQ_WAIT_TIMEOUT', retryAfter) }))
    const site = answering(told(2), told(100))
    const news: QueueNews[] = []
    const asked = ask(site, { onQueue: (one) => news.push(one), retry: { jitter: 0 } })
    await vi.runAllTimersAsync()
    const error = await refusalOf(asked)
    expect(site.askedAtMs).toEqual([0, 2000])
    expect(news).toEqual([
      { state: 'waiting', position: 1, etaMs: 1000 },
      { state: 'refused', position: null, etaMs: 2000 },
      { state: 'waiting', position: 1, etaMs: 1000 },
    ])
    expect(error).toMatchObject({ status: 503, code: 'FQ_WAIT_TIMEOUT', retryAfterMs: 100_000 })
    // It was refused, so its ticket means nothing any more.
    expect(new Headers(site.inits[1]!.headers).has('fairqueue-ticket')).toBe(false)
  })

  it('in the middle of the wait is one whatever the server calls it', async () => {
    const site = answering(events(universalPost.waiting(1) + finalEvent(500, { body: 'Come tomorrow.' })))
    expect(await refusalOf(ask(site))).toMatchObject({
      status: 500,
      message: 'Come tomorrow.',
      code: null,
      type: null,
      retryAfterMs: null,
      body: 'Come tomorrow.',
    })
  })

  it.each(['plain text', '', '<h1>Sorry</h1>', '{"a":', 'null', '7'])(
    'is one also when its body is %j',
    async (body) => {
      const site = answering(() => new Response(body, { status: 503 }))
      const error = await refusalOf(ask(site))
      expect(error).toMatchObject({ status: 503, code: null, retryAfterMs: null })
      expect(error.message).not.toBe('')
    },
  )

  it('is returned as a response with its status where that is asked for, told of or not', async () => {
    const event = finalEvent(503, { body: refusalBody('FQ_WAIT_TIMEOUT', 100), retryAfter: 100 })
    const told = events(universalPost.waiting(1) + event)
    for (const answer of [problem(503, 'FQ_WAIT_TIMEOUT', 100), told]) {
      const response = await ask(answering(answer), { throwRefusals: false })
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('100')
      expect(await response.json()).toMatchObject({ code: 'FQ_WAIT_TIMEOUT' })
    }
  })

  it('stops coming back when the signal aborts', async () => {
    const site = answering(problem(503, 'FQ_QUEUE_FULL', 30))
    const controller = new AbortController()
    const asked = ask(site, { signal: controller.signal })
    await vi.advanceTimersByTimeAsync(10)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('stops coming back when the signal of its Request aborts, unless null was given instead', async () => {
    const site = answering(problem(503, 'FQ_QUEUE_FULL', 30), problem(503, 'FQ_QUEUE_FULL', 30), ok)
    const controller = new AbortController()
    const request = new Request('http://here/', { signal: controller.signal })
    const init = { fetch: site.fetch, retry: { jitter: 0 } }
    const [asked, free] = [fetchInTurn(request, init), fetchInTurn(request, { ...init, signal: null })]
    asked.catch(() => {})
    await vi.advanceTimersByTimeAsync(10)
    controller.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await vi.runAllTimersAsync()
    expect((await free).ok).toBe(true)
  })
})

describe('Answers that are no refusals', () => {
  it.each([200, 201, 302, 400, 404, 500, 502])('are returned as they are: %j', async (status) => {
    const given = new Response('x', { status })
    const site = answering(() => given)
    expect(await fetchInTurn('http://here/', { fetch: site.fetch })).toBe(given)
  })

  it('are returned when they are problems of somebody else', async () => {
    const site = answering(problem(403, 'MINE'))
    expect((await fetchInTurn('http://here/', { fetch: site.fetch })).status).toBe(403)
  })
})

describe('Answers that came as one event', () => {
  const late = (status: number, rest: object): Promise<Response> => {
    const site = answering(events(universalPost.waiting(1) + universalPost.admitted + finalEvent(status, rest)))
    return fetchInTurn('http://here/', { fetch: site.fetch })
  }

  it('have their status, headers and body back', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'x-count': 3, link: ['<a>', '<b>'] }
    const response = await late(201, { headers, body: { id: 7 } })
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-count')).toBe('3')
    expect(response.headers.get('link')).toBe('<a>,<b>')
    expect(await response.json()).toEqual({ id: 7 })
  })

  it('may be text, bytes, or nothing', async () => {
    expect(await (await late(200, { headers: { 'content-type': 'text/html' }, body: '<p>ü</p>' })).text()).toBe(
      '<p>ü</p>',
    )
    const bytes = await late(200, {
      headers: { 'content-type': 'image/png' },
      body: Buffer.from([0, 255, 128]).toString('base64'),
      encoding: 'base64',
    })
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 128])
    expect(bytes.headers.get('content-type')).toBe('image/png')
    const none = await late(204, { body: null })
    expect(none.status).toBe(204)
    expect(none.body).toBeNull()
  })

  it("may be the handler's own errors, which are responses as ever", async () => {
    const response = await late(404, { body: { message: 'No such chat.' } })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ message: 'No such chat.' })
    const redirect = await late(303, { location: '/there', body: null })
    expect([redirect.status, redirect.headers.get('location')]).toEqual([303, '/there'])
  })

  it('are an error when a part is missing', async () => {
    await expect(late(200, { body: 'x', truncated: true })).rejects.toThrow(/too long/)
  })
})

describe('Options', () => {
  it.each([
    [{ onQueue: 7 }, /"onQueue" must be a function, got 7/],
    [{ fetch: null }, /"fetch" must be a function, got null/],
    [{ retry: { limit: -1 } }, /"retry.limit" must be a number of 0 or more, got -1/],
    [{ retry: { maxDelayMs: '5s' } }, /"retry.maxDelayMs" must be a number of 0 or more, got 5s/],
    [{ retry: { jitter: Number.NaN } }, /"retry.jitter" must be .*, got NaN/],
    [{ retry: { delay: 3 } }, /"retry.delay"/],
    [{ resume: { graceMs: null } }, /"resume.graceMs" must be .*, got null/],
  ])('are refused by name: %j', async (init, message) => {
    await expect(fetchInTurn('http://here/', init as unknown as FetchInTurnInit)).rejects.toThrow(message)
  })

  it('that are undefined are as if they were not there', async () => {
    const site = answering(ok)
    const init = { fetch: site.fetch, onQueue: undefined, retry: { limit: undefined }, resume: undefined }
    expect((await fetchInTurn('http://here/', init)).ok).toBe(true)
  })

  it('go to fetch, but for our own', async () => {
    const site = answering(ok)
    const onQueue = (): void => {}
    const init = { fetch: site.fetch, onQueue, retry: false, resume: false, throwRefusals: true } as const
    await fetchInTurn('http://here/', { ...init, method: 'PUT', credentials: 'include', body: 'x' })
    expect(Object.keys(site.inits[0]!).toSorted()).toEqual(['body', 'credentials', 'headers', 'method'])
  })
})
