import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import type { QueueStatus } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { startExample } from '@fairqueue/test/kit/exampleServer'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

vi.setConfig({ testTimeout: 60_000 })

/** The example as a process of its own on a free port, ended when the test ends. One request runs at a time in each line. */
async function start(platform: string, env: Readonly<Record<string, string>> = {}) {
  const { process: child, url } = await startExample(PROGRAM, {
    PLATFORM: platform,
    CONCURRENCY: '1',
    WORD_MS: '1',
    ...env,
  })
  const exited = once(child, 'exit')
  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(url + path, init)
  const post = (question: unknown, init?: RequestInit): Promise<Response> =>
    get('/answer', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ question }),
      ...init,
    })
  const untilCounts = (line: string, running: number, waiting: number): Promise<void> =>
    expect
      .poll(async () => ((await (await get('/status')).json()) as Record<string, QueueStatus>)[line], {
        interval: 20,
        timeout: 30_000,
      })
      .toMatchObject({ running, waiting })
  return { child, exited, get, post, untilCounts }
}

const asEvents = { headers: { Accept: 'text/event-stream' } }
/** An answer that lasts as long as the test. */
const endless = { WORD_MS: '600000' }

describe.each(['express', 'fastify'])('NestJS on %s', (platform) => {
  it('tells who waits for an @Sse handler its place, and then sends the handler’s own events', async () => {
    const { get, post, untilCounts } = await start(platform, { WORD_MS: '400' })
    const first = post('to be or not')
    await untilCounts('model', 1, 0)
    const told = await (await get('/ask?question=What+now', asEvents)).text()
    expect(await (await first).json()).toMatchObject({ answer: 'to be or not' })
    expect(told).toMatch(
      /^id: q:\S+\nevent: queue\ndata: .*"position":1,[^]*"position":0,[^]*data: What\n[^]*data: now\n[^]*event: done\n/,
    )
  })

  it('keeps everybody else waiting in silence, in one line for all handlers of the controller', async () => {
    const { get, post, untilCounts } = await start(platform, { WORD_MS: '300' })
    const first = get('/ask?question=to+be')
    await untilCounts('model', 1, 0)
    const second = await post('What now')
    expect(await second.json()).toMatchObject({ answer: 'What now', waitedMs: expect.any(Number) as number })
    expect(second.headers.get('server-timing')).toMatch(/^fairqueue;dur=\d+$/)
    expect(await (await first).text()).toContain('data: be')
  })

  it('holds the place of a handler whose client has left until it has ended, and no longer', async () => {
    const { get, untilCounts } = await start(platform, { REPORT_MS: '1500' })
    const leaving = new AbortController()
    const beganAtMs = performance.now()
    const first = get('/report', { signal: leaving.signal })
    await untilCounts('reports', 1, 0)
    leaving.abort()
    await expect(first).rejects.toThrow('abort')
    expect(await (await get('/report')).json()).toEqual({ report: 'Sales were good.' })
    // The second has begun after the first had ended.
    expect(performance.now() - beganAtMs).toBeGreaterThan(2990)
    await untilCounts('reports', 0, 0)
  })

  it('stops a handler whose client has left by its signal, and frees the place of one that waits', async () => {
    const { get, post, untilCounts } = await start(platform, endless)
    const [leave, giveUp] = [new AbortController(), new AbortController()]
    const running = post('to be', { signal: leave.signal })
    await untilCounts('model', 1, 0)
    const waiting = get('/ask?question=What', { ...asEvents, signal: giveUp.signal })
    await untilCounts('model', 1, 1)
    expect((await waiting).status).toBe(200)
    giveUp.abort()
    await untilCounts('model', 1, 0)
    leave.abort()
    await expect(running).rejects.toThrow('abort')
    await untilCounts('model', 0, 0)
  })

  it('refuses: a guard through the exception filters of Nest, as all its errors, a middleware by itself', async () => {
    const { get, post, untilCounts } = await start(platform, { ...endless, MAX_QUEUE_SIZE: '0' })
    const leave = new AbortController()
    for (const path of ['/ask?question=to+be', '/search?question=to+be'])
      get(path, { signal: leave.signal }).catch(() => undefined)
    for (const line of ['model', 'search']) await untilCounts(line, 1, 0)
    const refused = [await post('What now'), await get('/search?question=What+now')]
    const types = ['application/json', 'application/problem+json']
    for (const [number, response] of refused.entries()) {
      expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([503, types[number]])
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(await response.json()).toMatchObject({ code: 'FQ_QUEUE_FULL' })
    }
    leave.abort()
  })

  it('gives the place back when a pipe refuses what came with the request', async () => {
    const { post, untilCounts } = await start(platform)
    const response = await post('')
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ statusCode: 400 })])
    await untilCounts('model', 0, 0)
    expect((await post('to be')).status).toBe(200)
  })

  it('on SIGTERM lets who runs finish, sends away who waits, and ends', async () => {
    const { child, exited, get, untilCounts } = await start(platform, { REPORT_MS: '1500', ...endless })
    const report = get('/report')
    await untilCounts('reports', 1, 0)
    const waiting = get('/report')
    await untilCounts('reports', 1, 1)
    const leave = new AbortController()
    get('/ask?question=to+be', { signal: leave.signal }).catch(() => undefined)
    await untilCounts('model', 1, 0)
    const streamed = await get('/ask?question=What', asEvents)
    child.kill('SIGTERM')
    const refused = await waiting
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close'])
    expect(await refused.json()).toMatchObject({ code: 'FQ_DRAINING' })
    expect(await streamed.text()).toMatch(/event: error\ndata: .*"code":"FQ_DRAINING"/)
    leave.abort()
    expect(await (await report).json()).toEqual({ report: 'Sales were good.' })
    expect(await exited).toEqual([0, null])
  })
})

describe('Two servers with NestJS', () => {
  const redis = useRedis()

  it('share one line on one Redis', async () => {
    const env = { ...endless, REDIS_URL: redis.server.url }
    const [here, there] = [await start('express', env), await start('fastify', env)]
    const leave = new AbortController()
    const running = here.post('to be', { signal: leave.signal })
    await here.untilCounts('model', 1, 0)
    there.get('/ask?question=What', { signal: leave.signal }).catch(() => undefined)
    await here.untilCounts('model', 1, 1)
    leave.abort()
    await expect(running).rejects.toThrow('abort')
    await here.untilCounts('model', 0, 0)
  })
})
