import { FairQueue, MemoryStore } from '../../index.js'
import type { Adapter, AdapterOptions, Handler } from './adapter.js'
import { FailingStore } from './failingStore.js'
import { asksForEvents, closing, headerOf, openGate, openSite, runningIs, waitingIs, type Site } from './site.js'
import { deepEqual, equal, eventually, includes, matches, throws } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

const prefersAsync = { Prefer: 'respond-async' } as const

interface Place {
  readonly ticket: string
  readonly state: string
  readonly position: number | null
  readonly etaMs: number | null
  readonly claimMs?: number
}

function ticketIn(text: string): string {
  return /"ticket":"([^"]+)"/.exec(text)![1]!
}

/** Clients whose connection breaks while they wait, and clients that hold none. */
export function resumingTests(adapter: Adapter): void {
  /** Two applications in front of one line. */
  const openTwo = async (options: AdapterOptions = {}) => {
    const store = new MemoryStore()
    const ran = spy<(who: string) => void>()
    const onRejected = spy<NonNullable<AdapterOptions['onRejected']>>()
    const handler: Handler = ({ request, text }) => {
      ran(`${request.method} ${headerOf(request, 'x-who') ?? 'nobody'}`)
      return text(`done ${headerOf(request, 'last-event-id') ?? ''}`)
    }
    const open = async (): Promise<{ site: Site; queue: FairQueue }> => {
      const queue = closing(new FairQueue({ name: 'chat', store, concurrency: 1, statusIntervalMs: 20 }))
      const gate = adapter.gate({
        queue,
        statusDelayMs: 0,
        onRejected,
        keyGenerator: (request) => headerOf(request, 'x-user'),
        ...options,
      })
      return { queue, site: await openSite(adapter, { routes: [{ method: 'ALL', path: '/', gate, handler }] }) }
    }
    const [one, other] = [await open(), await open()]
    return { one, other, queue: one.queue, ran, onRejected }
  }

  /** A client is told that it is the next, and its connection breaks. */
  const breakOff = async ({ site }: { site: Site }, method = 'GET', headers = {}): Promise<string> => {
    const client = (await site.connect()).request(method, '/', { ...asksForEvents, ...headers })
    const ticket = ticketIn(await client.until('"state":"waiting"'))
    client.reset()
    return ticket
  }

  test('B36: an EventSource that comes back by itself, to any process, has kept its place', async () => {
    const { one, other, queue, ran } = await openTwo()
    const holder = await queue.acquire()
    const ticket = await breakOff(one)
    await waitingIs(queue, 0)
    const behind = one.site.get('/', { 'X-Who': 'behind' })
    await waitingIs(queue, 1)
    const client = (await other.site.connect()).request('GET', '/', {
      ...asksForEvents,
      'X-Who': 'back',
      'Last-Event-ID': `q:${ticket}`,
    })
    const told = await client.until('"state":"waiting"')
    deepEqual([ticketIn(told), /"position":(\d)/.exec(told)![1]], [ticket, '1'])
    await waitingIs(queue, 2)
    await holder.release()
    includes((await client.response()).body, 'done ')
    await behind
    deepEqual(ran.calls, [['GET back'], ['GET behind']])
    client.leave()
  })

  test.each([
    ['a header', { 'Fairqueue-Ticket': 'T' }, '/'],
    ['the parameter that was chosen', {}, '/?place=T'],
  ])('any other client takes its place up again with %s', async (_how, headers, path) => {
    const { one, other, queue, ran } = await openTwo({ ticketParameter: 'place' })
    const holder = await queue.acquire()
    const ticket = await breakOff(one, 'POST')
    await waitingIs(queue, 0)
    const behind = one.site.get('/', { 'X-Who': 'behind' })
    await waitingIs(queue, 1)
    const filled = Object.fromEntries(Object.entries(headers).map(([name]) => [name, ticket]))
    const back = other.site.fetch('POST', path.replace('T', ticket), { ...filled, 'X-Who': 'back' }, '')
    await waitingIs(queue, 2)
    await holder.release()
    includes((await back).body, 'done')
    await behind
    deepEqual(ran.calls, [['POST back'], ['GET behind']])
  })

  test('while nobody is there its turn passes it by, and once it is back it is the next', async () => {
    const { one, other, queue } = await openTwo()
    const holder = await queue.acquire()
    const ticket = await breakOff(one)
    await waitingIs(queue, 0)
    await holder.release()
    includes((await one.site.get('/')).body, 'done')
    const back = await other.site.get('/', { ...asksForEvents, 'Last-Event-ID': `q:${ticket}` })
    deepEqual([back.status, back.body], [200, 'done '])
    await runningIs(queue, 0)
  })

  test.each([
    ['an EventSource is told to stop', 'GET', (ticket: string) => ({ 'Last-Event-ID': `q:${ticket}` }), 204, null],
    [
      'any other is told that the place is lost',
      'POST',
      (ticket: string) => ({ 'Fairqueue-Ticket': ticket }),
      410,
      'FQ_PLACE_LOST',
    ],
  ])('who comes back for a place that is not there runs nothing: %s', async (_who, method, headers, status, told) => {
    const { one, ran, queue } = await openTwo({ resumeGraceMs: 30 })
    const ended = spy<() => void>()
    queue.on('cancelled', () => ended())
    const holder = await queue.acquire()
    const ticket = await breakOff(one)
    await waitingIs(queue, 0)
    await eventually(() => equal(ended.calls.length, 1))
    for (const id of [ticket, 'nonsense', `${ticket}x`]) {
      const answer = await one.site.fetch(method, '/', { ...asksForEvents, ...headers(id) })
      const { code = null } = (answer.body === '' ? {} : JSON.parse(answer.body)) as { code?: string }
      deepEqual([answer.status, code, answer.header('retry-after')], [status, told, undefined])
    }
    deepEqual(ran.calls, [])
    await holder.release()
  })

  test.each([
    ['an EventSource', 'GET', { 'Last-Event-ID': 'q:1790000000000000.pLaCeSeCrEtX' }, 204],
    ['any other', 'POST', { 'Fairqueue-Ticket': '1790000000000000.pLaCeSeCrEtX' }, 410],
  ])(
    '%s is told that its place is not there by the status, also when the store takes its time',
    async (_who, method, headers, status) => {
      const store = new FailingStore((place) => void setTimeout(() => place.onRefused('unknown'), 50))
      const { gate } = openGate(adapter, { name: 'chat', store, concurrency: 1, statusDelayMs: 0 })
      const site = await openSite(adapter, {
        routes: [{ method: 'ALL', path: '/', gate, handler: ({ text }) => text('ran') }],
      })
      equal((await site.fetch(method, '/', { ...asksForEvents, ...headers })).status, status)
    },
  )

  test("a place is its user's: another cannot take it, and the user can after that", async () => {
    const { one, other, queue, ran } = await openTwo()
    const holder = await queue.acquire()
    const ticket = await breakOff(one, 'GET', { 'X-User': 'ann' })
    await waitingIs(queue, 0)
    equal((await other.site.get('/', { 'X-User': 'bob', 'Fairqueue-Ticket': ticket })).status, 410)
    await holder.release()
    equal((await other.site.get('/', { 'X-User': 'ann', 'Fairqueue-Ticket': ticket })).status, 200)
    equal(ran.calls.length, 1)
  })

  test('a connection that is only believed to be there loses its place to the next one, and nobody runs twice', async () => {
    const { one, other, queue, ran, onRejected } = await openTwo()
    const holder = await queue.acquire()
    const first = (await one.site.connect()).request('GET', '/', { ...asksForEvents, 'X-Who': 'first' })
    const ticket = ticketIn(await first.until('"state":"waiting"'))
    const second = (await other.site.connect()).request('GET', '/', {
      ...asksForEvents,
      'X-Who': 'second',
      'Last-Event-ID': `q:${ticket}`,
    })
    await second.until('"state":"waiting"')
    const { body } = await first.response()
    includes(body, 'id: q:end\nevent: error\n')
    includes(body, 'FQ_PLACE_LOST')
    await holder.release()
    includes((await second.response()).body, 'done')
    deepEqual([ran.calls, onRejected.calls], [[['GET second']], []])
    first.leave()
    second.leave()
  })

  test('with resumeGraceMs 0 a place is given up with the connection', async () => {
    const { one, other, queue } = await openTwo({ resumeGraceMs: 0 })
    const holder = await queue.acquire()
    const cancelled = spy<() => void>()
    queue.on('cancelled', () => cancelled())
    const ticket = await breakOff(one)
    await eventually(() => equal(cancelled.calls.length, 1))
    equal((await other.site.get('/', { 'Fairqueue-Ticket': ticket })).status, 410)
    await holder.release()
  })

  test('who asks for it is accepted with 202, looks at the place, and runs once the turn has come', async () => {
    const { one, other, queue, ran } = await openTwo()
    const holder = await queue.acquire()
    const accepted = await one.site.fetch('POST', '/?a=1', prefersAsync, '')
    deepEqual(
      [accepted.status, accepted.header('preference-applied'), accepted.header('cache-control')],
      [202, 'respond-async', 'no-store'],
    )
    const { ticket, ...stands } = JSON.parse(accepted.body) as Place
    deepEqual(stands, { state: 'waiting', position: 1, etaMs: null })
    equal(Number(accepted.header('retry-after')), 3)
    const location = accepted.header('location')!
    equal(location, `?a=1&fairqueue-place=${ticket}`)
    const look = async ({ site }: { site: Site }, method = 'GET'): Promise<[number, Place]> => {
      const { status, body } = await site.fetch(method, `/${location}`)
      return [status, JSON.parse(body) as Place]
    }
    deepEqual(await look(other), [200, { ticket, state: 'waiting', position: 1, etaMs: null }])
    matches(await look(one, 'POST'), [200, { state: 'waiting' }])
    equal((await other.site.fetch('POST', '/', { ...prefersAsync, 'Fairqueue-Ticket': ticket }, '')).status, 202)
    await holder.release()
    await runningIs(queue, 1)
    deepEqual(await look(one), [200, { ticket, state: 'reserved', position: 0, etaMs: 0, claimMs: 10_000 }])
    deepEqual(ran.calls, [])
    const claimed = await other.site.fetch('POST', '/', { 'Fairqueue-Ticket': ticket, 'X-Who': 'claimer' }, '')
    deepEqual([claimed.status, claimed.body], [200, 'done '])
    deepEqual(ran.calls, [['POST claimer']])
    await runningIs(queue, 0)
    equal((await one.site.get(`/${location}`)).status, 410)
  })

  test('who need not wait is not accepted but answered, whatever it prefers', async () => {
    const { one } = await openTwo({ statusDelayMs: 1000 })
    const answer = await one.site.fetch('POST', '/', prefersAsync, '')
    deepEqual([answer.status, answer.body], [200, 'done '])
  })

  test.each<[string, 'auto' | 'always' | 'never', Record<string, string>, number]>([
    ['always: everybody', 'always', {}, 202],
    ['always: but those who ask for events', 'always', asksForEvents, 200],
    ['auto: who prefers it, also among other preferences', 'auto', { Prefer: 'wait=5, Respond-Async ;a' }, 202],
    ['auto: before events', 'auto', { ...prefersAsync, ...asksForEvents }, 202],
    ['auto: nobody else', 'auto', { Prefer: 'respond-async-not' }, 200],
    ['never: nobody', 'never', prefersAsync, 200],
  ])('respondAsync %s', async (_what, respondAsync, headers, status) => {
    const { one, queue } = await openTwo({ respondAsync })
    const holder = await queue.acquire()
    const answer = one.site.fetch('POST', '/', headers, '')
    await waitingIs(queue, 1)
    if (status === 200) await holder.release()
    equal((await answer).status, status)
    await holder.release()
  })

  test('a turn that nobody claims in time goes to the next', async () => {
    const { one, queue, ran } = await openTwo({ claimMs: 40 })
    const holder = await queue.acquire()
    const { ticket } = JSON.parse((await one.site.fetch('POST', '/', prefersAsync, '')).body) as Place
    const next = one.site.get('/', { 'X-Who': 'next' })
    await waitingIs(queue, 2)
    await holder.release()
    equal((await next).status, 200)
    equal((await one.site.fetch('POST', '/', { 'Fairqueue-Ticket': ticket }, '')).status, 410)
    deepEqual(ran.calls, [['GET next']])
  })

  test('options that make no sense are refused by name', () => {
    const open = (options: object) => () => adapter.gate({ concurrency: 1, ...options })
    throws(open({ ticketParameter: '' }), '"ticketParameter"')
    throws(open({ respondAsync: true }), '"respondAsync"')
    throws(open({ claimMs: 0 }), '"claimMs"')
    throws(open({ resumeGraceMs: -1 }), '"resumeGraceMs"')
  })
}
