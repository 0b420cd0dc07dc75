// What a user's test of a route looks like; `node --test` runs it. It is the example of packages/core/README.md.
import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Store } from '@fairqueue/core'
import { createTestStore } from '@fairqueue/core/testing'
import { fairQueue } from '@fairqueue/express'

/** The application: one report at a time, and nobody waits longer than 30 s. */
function createApp({ store, write }: { readonly store: Store; readonly write: () => Promise<string> }): Server {
  const gate = fairQueue({ name: 'reports', store, concurrency: 1, maxWaitMs: '30s' }) as unknown as (
    ...[req, res, next]: [...Parameters<RequestListener>, () => void]
  ) => void
  return createServer((req, res) => gate(req, res, () => void write().then((report) => res.end(report))))
}

void test('who waits too long is told so', async (t) => {
  const store = createTestStore()
  let finish = (_report: string): void => {}
  const report = new Promise<string>((resolve) => {
    finish = resolve
  })
  const server = createApp({ store, write: () => report }).listen(0)
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`

  const first = fetch(url)
  await store.until('reports', { running: 1 })
  const second = fetch(url)
  await store.until('reports', { running: 1, waiting: 1 })
  await store.clock.advance(30_000)
  assert.equal((await second).status, 503)

  finish('the report')
  assert.equal(await (await first).text(), 'the report')
  await store.until('reports', { running: 0 })
})
