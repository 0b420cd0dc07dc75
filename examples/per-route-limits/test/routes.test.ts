import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startExample } from '@fairqueue/test/kit/exampleServer'
import { describe, expect, it, vi } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))
const PATIENCE_MS = 30_000

vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

/** The example as a process of its own on a free port, ended when the test ends. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const { process: child, url } = await startExample(PROGRAM, { WORK_MS: '600000', ...env })
  const exited = once(child, 'exit') as Promise<[code: number | null]>
  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(url + path, init)
  const counts = async (name: string): Promise<unknown> => {
    const status = (await (await get('/status')).json()) as Record<string, { running: number; waiting: number }>
    return [status[name]!.running, status[name]!.waiting]
  }
  const untilCounts = (name: string, ...wanted: [running: number, waiting: number]): Promise<void> =>
    expect.poll(() => counts(name), { interval: 20, timeout: PATIENCE_MS }).toEqual(wanted)
  return { child, exited, get, untilCounts }
}

describe('The server', () => {
  it('lets two reports run and three wait, and refuses the rest', async () => {
    const { get, untilCounts } = await start()
    const leave = new AbortController()
    for (let i = 0; i < 5; i += 1) get('/report', { signal: leave.signal }).catch(() => undefined)
    await untilCounts('GET /report', 2, 3)
    const refused = await get('/report')
    expect([refused.status, (await refused.json()) as object]).toMatchObject([503, { code: 'FQ_QUEUE_FULL' }])
    leave.abort()
    await untilCounts('GET /report', 0, 0)
  })

  it('lets answers and summaries share one line, in which a summary counts twice', async () => {
    const { get, untilCounts } = await start()
    const leave = new AbortController()
    get('/answer', { signal: leave.signal }).catch(() => undefined)
    await untilCounts('model', 1, 0)
    get('/summary', { signal: leave.signal }).catch(() => undefined)
    await untilCounts('model', 1, 1)
    expect((await get('/')).status).toBe(200)
    leave.abort()
    await untilCounts('model', 0, 0)
    get('/summary').catch(() => undefined)
    await untilCounts('model', 2, 0)
  })

  it('answers', async () => {
    const { get } = await start({ WORK_MS: '1' })
    const answers = await Promise.all(['/report', '/answer', '/summary'].map(async (path) => (await get(path)).json()))
    expect(answers).toEqual([{ report: 'Sales were good.' }, { answer: '42' }, { summary: 'It is about 42.' }])
  })

  it('on SIGTERM lets who runs finish, tells who waits to come back, and ends', async () => {
    const { child, exited, get, untilCounts } = await start({ WORK_MS: '1500' })
    const running = [get('/report'), get('/report')]
    await untilCounts('GET /report', 2, 0)
    const waiting = get('/report')
    await untilCounts('GET /report', 2, 1)
    child.kill('SIGTERM')
    const refused = await waiting
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await exited)[0]).toBe(0)
  })
})
