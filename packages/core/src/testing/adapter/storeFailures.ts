import type { Place } from '../../index.js'
import type { FairQueueContext } from '../../http.js'
import type { Adapter } from './adapter.js'
import { FailingStore } from './failingStore.js'
import { openGate, openSite } from './site.js'
import { deepEqual, equal, eventually, matches } from '../assertions.js'
import { spy } from '../spy.js'
import { test } from '../suite.js'

const failures: readonly (readonly [string, (place: Place) => void])[] = [
  ['rejects', (place) => place.onRefused('unavailable', new Error('down'))],
  ['rejects after a while', (place) => void setTimeout(() => place.onRefused('unavailable', undefined), 5)],
]

export function storeFailureTests(adapter: Adapter): void {
  const openFailing = async (fail: (place: Place) => void, onStoreError: 'open' | 'closed') => {
    const warn = spy<() => void>()
    const store = new FailingStore(fail)
    const options = { name: 'chat', store, concurrency: 1, onStoreError, statusCode: 429, logger: { warn } }
    const { gate, queue } = openGate(adapter, options)
    const contexts: FairQueueContext[] = []
    const site = await openSite(adapter, {
      routes: [
        {
          path: '/',
          gate,
          handler: ({ place, text }) => {
            contexts.push(place)
            return text('ran')
          },
        },
      ],
    })
    return { site, contexts, warn, queue }
  }

  test.each(failures)(
    "B21: a request gets 503 with its own code, never 429, when the store %s and onStoreError is 'closed'",
    async (_what, fail) => {
      const { site, contexts, warn } = await openFailing(fail, 'closed')
      for (let i = 0; i < 3; i += 1) {
        const { status, header, body } = await site.get('/')
        deepEqual([status, header('ratelimit'), header('retry-after')], [503, undefined, '1'])
        deepEqual(JSON.parse(body), {
          type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
          title: 'Request cannot be satisfied due to temporary server capacity constraints',
          status: 503,
          detail: 'The store could not decide in time.',
          code: 'FQ_STORE_UNAVAILABLE',
          retryAfter: 1,
          error: {
            type: 'overloaded_error',
            code: 'FQ_STORE_UNAVAILABLE',
            message: 'The store could not decide in time.',
          },
        })
      }
      deepEqual(contexts, [])
      equal(warn.calls.length, 1)
    },
  )

  test.each(failures)(
    "B21: a request passes once, uncounted, when the store %s and onStoreError is 'open'",
    async (_what, fail) => {
      const { site, contexts, queue } = await openFailing(fail, 'open')
      equal((await site.get('/')).body, 'ran')
      equal(contexts.length, 1)
      matches(contexts[0], { ticket: null, lease: null })
      equal(contexts[0]!.signal.aborted, false)
      await eventually(async () => equal((await queue.status()).local.running, 0))
    },
  )
}
