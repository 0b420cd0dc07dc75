import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createTestStore } from '@fairqueue/core/testing'
import { fairQueue } from '@fairqueue/express'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'

test('a route is tested without sleeping: the store brings the time', async () => {
  const store = createTestStore()
  let finish = (): void => {}
  const app = express()
  app.get('/report', fairQueue({ name: 'reports', store, concurrency: 1, maxWaitMs: '30s' }), (_req, res) => {
    finish = () => res.send('the report')
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`

  const first = fetch(url)
  await store.until('reports', { running: 1 })
  const second = fetch(url)
  await store.until('reports', { running: 1, waiting: 1 })
  await store.clock.advance(30_000)
  expect((await second).status).toBe(503)

  finish()
  expect(await (await first).text()).toBe('the report')
})
