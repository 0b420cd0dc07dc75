import { expect, it, vi } from 'vitest'
import type { Place } from '@fairqueue/core'
import type { FairQueueContext } from '@fairqueue/core/http'
import type { Adapter } from './adapter.js'
import { FailingStore } from './failingStore.js'
import { eventually, openGate, openSite } from './site.js'

const failures: readonly (readonly [string, (place: Place) => void])[] = [
  ['rejects', (place) => place.onRefused('unavailable', new Error('down'))],
  ['rejects after a while', (place) => void setTimeout(() => place.onRefused('unavailable', undefined), 5)],
]

export function storeFailureTests(adapter: Adapter): void {
  const openFailing = async (fail: (place: Place) => void, onStoreError: 'open' | 'closed') => {
    const warn = vi.fn<() => void>()
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

  it.each(failures)(
    "B21: a request gets 503 with its own code, never 429, when the store %s and onStoreError is 'closed'",
    async (_what, fail) => {
      const { site, contexts, warn } = await openFailing(fail, 'closed')
      for (let i = 0; i < 3; i += 1) {
        const { status, header, body } = await site.get('/')
        expect([status, header('ratelimit'), header('retry-after')]).toEqual([503, undefined, '1'])
        expect(JSON.parse(body)).toEqual({
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
      expect(contexts).toEqual([])
      expect(warn).toHaveBeenCalledOnce()
    },
  )

  it.each(failures)(
    "B21: a request passes once, uncounted, when the store %s and onStoreError is 'open'",
    async (_what, fail) => {
      const { site, contexts, queue } = await openFailing(fail, 'open')
      expect((await site.get('/')).body).toBe('ran')
      expect(contexts).toHaveLength(1)
      expect(contexts[0]).toMatchObject({ ticket: null, lease: null })
      expect(contexts[0]!.signal.aborted).toBe(false)
      await eventually(async () => (await queue.status()).local.running).toBe(0)
    },
  )
}
