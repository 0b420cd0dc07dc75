import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { chromium, type Page } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useRedis } from '@fairqueue/test/kit/clients'
import { startExample } from '@fairqueue/test/kit/exampleServer'

const PROGRAM = fileURLToPath(new URL('../dist/demo.js', import.meta.url))

vi.setConfig({ testTimeout: 90_000 })

/** What `GET /state` shows of a visitor. */
interface Visitor {
  readonly number: number
  readonly server: string
  readonly state: string
  readonly position: number | null
}

interface State {
  readonly redis: string
  readonly servers: readonly { readonly name: string; readonly url: string | null; readonly pid: number | null }[]
  readonly line: { readonly running: number; readonly waiting: number } | null
  readonly visitors: readonly Visitor[]
}

/** Expects it to become true in time; patient, for machines that are busy. */
function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 20, timeout: 30_000 })
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The demonstration, ended when the test ends. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const { REDIS_SERVER = 'redis-server' } = process.env
  const { process: child, url } = await startExample(PROGRAM, { REDIS_SERVER, WORK_MS: '600000', ...env })
  const exited = once(child, 'exit')
  // By itself: it has children.
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const send = async (method: string, path: string): Promise<void> =>
    expect((await fetch(url + path, { method })).status).toBe(204)
  const state = async (): Promise<State> => (await (await fetch(`${url}/state`)).json()) as State
  const visitors = async (...states: string[]): Promise<Visitor[]> =>
    (await state()).visitors.filter((visitor) => states.includes(visitor.state))
  const untilCounts = (running: number, waiting: number): Promise<void> =>
    eventually(async () => (await state()).line).toMatchObject({ running, waiting })
  return { child, exited, url, send, state, visitors, untilCounts }
}

async function visit(url: string): Promise<Page> {
  const executablePath = process.env['CHROMIUM']
  if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(url)
  return page
}

describe('Two servers on one Redis', () => {
  const redis = useRedis()

  it('serve one line in the order of arrival, each its own visitors', async () => {
    const demo = await start({ REDIS_URL: redis.server.url, WORK_MS: '1000', CONCURRENCY: '1' })
    await demo.send('POST', '/visitors')
    let line: Visitor[] = []
    await eventually(async () => {
      line = (await demo.visitors('waiting')).toSorted((a, b) => a.position! - b.position!)
      return line.length >= 5 && line.every(({ position }, i) => position === i + 1)
    }).toBe(true)
    expect(new Set(line.map(({ server }) => server))).toEqual(new Set(['A', 'B']))
    const next = line.slice(0, 4).map(({ number }) => number)
    const served = async (): Promise<number[]> =>
      (await demo.visitors('served')).map(({ number }) => number).filter((number) => next.includes(number))
    await eventually(served).toEqual(next)
  })

  it('show one line on the page, which goes on when a server is killed', async () => {
    const demo = await start({ REDIS_URL: redis.server.url, CONCURRENCY: '2' })
    const page = await visit(demo.url)
    await page.getByRole('button', { name: 'Ten more visitors' }).click()
    await page.getByText('2 of 2 places taken, 8 waiting').waitFor()
    const line = page.getByLabel('The line', { exact: true }).getByRole('listitem')
    const shown = async (): Promise<string[]> => (await line.allTextContents()).toSorted()
    await eventually(shown).toHaveLength(8)
    const before = (await demo.visitors('waiting')).toSorted((a, b) => a.position! - b.position!)
    expect(before.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(new Set(before.map(({ server }) => server))).toEqual(new Set(['A', 'B']))

    await page.getByRole('button', { name: 'Kill A' }).click()
    await page.getByRole('button', { name: 'Start A again' }).waitFor()
    // All five of A are lost, none of B; what A held goes to the first who wait at B.
    await eventually(async () => (await demo.visitors('broken')).map(({ server }) => server)).toEqual(
      Array.from({ length: 5 }, () => 'A'),
    )
    await demo.untilCounts(2, 3)
    await eventually(async () => (await demo.visitors('waiting')).map(({ position }) => position)).toEqual([1, 2, 3])
    const ofB = before.filter(({ server }) => server === 'B').map(({ number }) => number)
    expect((await demo.visitors('waiting')).map(({ number }) => number)).toEqual(ofB.slice(-3))
    await page.getByText('2 of 2 places taken, 3 waiting').waitFor()
    expect(await page.getByText('lost with A').count()).toBe(5)
    expect(await page.locator('#server-B .running li').count()).toBe(2)

    await page.getByRole('button', { name: 'Start A again' }).click()
    await page.getByRole('button', { name: 'Kill A' }).waitFor()
    await demo.send('POST', '/visitors')
    await demo.untilCounts(2, 13)
  })

  it('end by a signal, with the servers and the Redis that the demonstration has started', async () => {
    const demo = await start()
    await demo.send('POST', '/visitors')
    await demo.untilCounts(2, 8)
    const { servers, redis: address } = await demo.state()
    const pids = servers.map(({ pid }) => pid!)
    expect(pids.map(runs)).toEqual([true, true])
    demo.child.kill('SIGTERM')
    expect(await demo.exited).toEqual([0, null])
    expect(pids.map(runs)).toEqual([false, false])
    const [refused] = (await once(connect(Number(new URL(address).port), '127.0.0.1'), 'error')) as [Error]
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('without a Redis say how to get one', async () => {
    const child = spawn(process.execPath, [PROGRAM], { env: { REDIS_SERVER: '/nowhere/redis-server', PORT: '0' } })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect([code, said]).toEqual([1, expect.stringMatching(/^There is no Redis: set REDIS_URL .*apt-get install/)])
    expect(said.trim().split('\n')).toHaveLength(1)
  })
})
