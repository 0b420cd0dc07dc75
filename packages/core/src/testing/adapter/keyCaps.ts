import type { RawClient } from './rawHttp.js'
import type { Adapter, AdapterOptions, Call } from './adapter.js'
import { asksForEvents, headerOf, openGate, openSite, runningIs, waitingIs } from './site.js'
import { deepEqual, equal, eventually, includes, matches } from '../assertions.js'
import { test } from '../suite.js'

/** R22 as clients see it. */
export function keyCapsTests(adapter: Adapter): void {
  const open = async (options: AdapterOptions = {}) => {
    const { gate, queue } = openGate(adapter, {
      name: 'chat',
      concurrency: 3,
      perKey: { concurrency: 1, maxQueueSize: 1 },
      keyGenerator: (request) => headerOf(request, 'x-user'),
      ...options,
    })
    const running: { readonly user: string | undefined; readonly finish: () => void }[] = []
    const handler = async ({ request, text }: Call): Promise<unknown> => {
      const user = headerOf(request, 'x-user')
      await new Promise<void>((resolve) => running.push({ user, finish: resolve }))
      return await text(`for ${user}`)
    }
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const ask = async (user: string | undefined, headers = {}): Promise<RawClient> =>
      (await site.connect()).request('GET', '/', { ...(user !== undefined && { 'X-User': user }), ...headers })
    const finish = async (user: string | undefined): Promise<void> => {
      await eventually(() =>
        equal(
          running.some((each) => each.user === user),
          true,
        ),
      )
      running
        .splice(
          running.findIndex((each) => each.user === user),
          1,
        )[0]!
        .finish()
    }
    return { queue, site, ask, running, finish }
  }

  test('lets one of each user run, and others pass whom that keeps waiting', async () => {
    const { queue, ask, running, finish } = await open()
    const first = await ask('ann')
    await runningIs(queue, 1)
    const second = await ask('ann')
    await waitingIs(queue, 1)
    const other = await ask('ben')
    await runningIs(queue, 2)
    deepEqual(
      running.map(({ user }) => user),
      ['ann', 'ben'],
    )
    await finish('ann')
    matches(await first.response(), { status: 200, body: 'for ann' })
    await waitingIs(queue, 0)
    await finish('ann')
    await finish('ben')
    matches(await second.response(), { status: 200, body: 'for ann' })
    matches(await other.response(), { status: 200, body: 'for ben' })
  })

  test('refuses with 429 who has as many waiting as may, and says all that such a client needs to know', async () => {
    const { queue, site, ask, finish } = await open()
    const clients = [await ask('ann')]
    await runningIs(queue, 1)
    clients.push(await ask('ann'))
    await waitingIs(queue, 1)
    const { status, statusText, header, body } = await site.get('/', { 'X-User': 'ann' })
    deepEqual([status, statusText], [429, 'Too Many Requests'])
    deepEqual(JSON.parse(body), {
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: 'Too many with the same key wait in queue "chat".',
      code: 'FQ_KEY_LIMIT',
      retryAfter: 5,
      'violated-policies': ['chat/key'],
      error: {
        type: 'rate_limit_error',
        code: 'FQ_KEY_LIMIT',
        message: 'Too many with the same key wait in queue "chat".',
      },
    })
    equal(header('content-type'), 'application/problem+json')
    equal(header('cache-control'), 'no-store')
    equal(header('retry-after'), '5')
    equal(header('ratelimit-policy'), '"chat/key";q=1;qu="concurrent-requests"')
    equal(header('ratelimit'), '"chat/key";r=0;t=5')
    for (const client of clients) {
      await finish('ann')
      matches(await client.response(), { status: 200 })
    }
  })

  test.each<[string, AdapterOptions['statusCode'], number]>([
    ['a number', 503, 503],
    ['one for its code', { FQ_KEY_LIMIT: 420 }, 420],
    ['one for another code', { FQ_QUEUE_FULL: 420 }, 429],
  ])('refuses with the status that statusCode says: %s', async (_what, statusCode, status) => {
    const { queue, site, ask, finish } = await open({
      perKey: { concurrency: 1, maxQueueSize: 0 },
      statusCode: statusCode!,
    })
    const client = await ask('ann')
    await runningIs(queue, 1)
    const answer = await site.get('/', { 'X-User': 'ann' })
    deepEqual([answer.status, (JSON.parse(answer.body) as { code: string }).code], [status, 'FQ_KEY_LIMIT'])
    await finish('ann')
    await client.response()
  })

  test('has no caps for requests without a key', async () => {
    const { queue, ask, finish } = await open({ perKey: { concurrency: 1, maxQueueSize: 0 } })
    const clients = [await ask(undefined), await ask(undefined), await ask(undefined)]
    await runningIs(queue, 3)
    for (const client of clients) {
      await finish(undefined)
      matches(await client.response(), { status: 200 })
    }
  })

  test('tells who is parked of its place, and then lets it in', async () => {
    const { queue, ask, finish } = await open({ statusDelayMs: 0 })
    const first = await ask('ann')
    await runningIs(queue, 1)
    const second = await ask('ann', asksForEvents)
    await second.until('"position":1')
    await finish('ann')
    await first.response()
    await second.until('"state":"admitted"')
    await finish('ann')
    includes((await second.response()).body, 'for ann')
  })
}
