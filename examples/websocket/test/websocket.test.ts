import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { QueueStatus } from '@fairqueue/core'
import { useRedis } from '@fairqueue/test/kit/clients'
import { startExample } from '@fairqueue/test/kit/exampleServer'
import { RawClient } from '@fairqueue/test/kit/rawHttp'
import { Socket } from './socket.js'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

/** What turns a connection into a WebSocket (RFC 6455, 4.1). */
const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
}

vi.setConfig({ testTimeout: 60_000 })

/** Expects it to become true in time; patient, for machines that are busy. */
function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 10, timeout: 30_000 })
}

/** The example's server as a process of its own on a free port, ended when the test ends. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const { process: child, url } = await startExample(PROGRAM, { CONCURRENCY: '1', WORD_MS: '1', ...env })
  const untilCounts = (running: number, waiting: number): Promise<void> =>
    eventually(async () => (await (await fetch(`${url}/status`)).json()) as QueueStatus).toMatchObject({
      running,
      waiting,
    })
  /** A client whose session has begun. */
  const admitted = async (): Promise<Socket> => {
    const socket = await Socket.connected(url)
    await socket.hears('admitted')
    return socket
  }
  /** A client that waits with so many others. */
  const waiting = async (number: number): Promise<Socket> => {
    const socket = await Socket.connected(url)
    await untilCounts(1, number)
    return socket
  }
  return { child, url, untilCounts, admitted, waiting }
}

describe('The example with WebSockets', () => {
  it('takes a place when a socket has connected, tells it where it stands, and hands the place on when it closes', async () => {
    const { untilCounts, admitted, waiting } = await start()
    const first = await admitted()
    const second = await waiting(1)
    const third = await waiting(2)
    expect(await third.hears('waiting')).toMatchObject({ position: 2 })
    first.socket.close()
    await second.hears('admitted')
    await eventually(() => third.told.at(-1)).toMatchObject({ position: 1 })
    second.socket.close()
    await third.hears('admitted')
    expect(third.told.map(({ state, position }) => [state, position])).toEqual([
      ['waiting', 2],
      ['waiting', 1],
      ['admitted', 0],
    ])
    third.socket.close()
    await untilCounts(0, 0)
  })

  it('serves who has been let in, one message at a time', async () => {
    const { admitted } = await start()
    const client = await admitted()
    client.socket.send('to be or not')
    await client.hears('answered')
    expect(client.told.flatMap(({ word }) => word ?? [])).toEqual(['to', 'be', 'or', 'not'])
  })

  it('frees at once the place of a socket that leaves while it waits, also without a word', async () => {
    const { untilCounts, admitted, waiting } = await start()
    const first = await admitted()
    const polite = await waiting(1)
    const rude = await waiting(2)
    const last = await waiting(3)
    polite.socket.close()
    rude.socket.terminate()
    await untilCounts(1, 1)
    first.socket.close()
    expect(await last.hears('admitted')).toMatchObject({ position: 0 })
  })

  it.each([
    ['finds the line full', 'FQ_QUEUE_FULL', { MAX_QUEUE_SIZE: '0' }],
    ['has waited in vain', 'FQ_WAIT_TIMEOUT', { MAX_WAIT: '100ms' }],
  ])('sends away who %s with 1013 and when to come back', async (_title, code, env) => {
    const { url, admitted } = await start(env)
    await admitted()
    const socket = await Socket.connected(url)
    const { retryAfter, ...refusal } = await socket.hears('refused')
    expect(refusal.code).toBe(code)
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(await socket.closed).toEqual([1013, `${code}, Retry-After: ${retryAfter}`])
  })

  it('closes a session whose lease is lost, and lets in the next', async () => {
    const { admitted, waiting } = await start({ SESSION: '1500ms' })
    const first = await admitted()
    const second = await waiting(1)
    expect(await first.hears('refused')).toMatchObject({ code: 'FQ_LEASE_LOST' })
    expect((await first.closed)[0]).toBe(1013)
    await second.hears('admitted')
  })

  it('closes a socket that speaks out of turn, sends what is no text or too much, or is of another page', async () => {
    const { url, untilCounts, admitted, waiting } = await start({ WORD_MS: '600000' })
    const foreign = await Socket.connected(url, { origin: 'http://example.com' })
    expect(await foreign.closed).toEqual([1008, 'A page of another origin'])
    const own = await Socket.connected(url, { origin: url })
    await own.hears('admitted')
    const early = await waiting(1)
    early.socket.send('Is it my turn?')
    expect(await early.closed).toEqual([1008, 'Out of turn'])
    own.socket.send('first')
    own.socket.send('second')
    expect(await own.closed).toEqual([1008, 'Out of turn'])
    const binary = await admitted()
    binary.socket.send(Buffer.from('text'))
    expect(await binary.closed).toEqual([1003, 'Send text'])
    const long = await admitted()
    long.socket.send('x'.repeat(4097))
    expect((await long.closed)[0]).toBe(1009)
    await untilCounts(0, 0)
  })

  it('ends the connection of who answers no ping', async () => {
    const { url, untilCounts } = await start({ PING_MS: '1000' })
    const mute = await RawClient.connect(Number(new URL(url).port))
    await mute.request('GET', '/session', UPGRADE).until('admitted')
    await mute.closed
    expect(mute.received).toContain('"state":"admitted"')
    await untilCounts(0, 0)
  })

  // Less time than the library gives.
  it('ends the connection of who does not close when told to', { timeout: 20_000 }, async () => {
    const { url, untilCounts } = await start({ PING_MS: '600000' })
    const stubborn = await RawClient.connect(Number(new URL(url).port))
    await stubborn.request('GET', '/session', UPGRADE).until('admitted')
    // An empty binary frame; it does not answer the close that follows.
    stubborn.send(new Uint8Array([0x82, 0x80, 1, 2, 3, 4]))
    expect(await stubborn.until('Send text')).toContain('"state":"admitted"')
    await stubborn.closed
    await untilCounts(0, 0)
  })

  it('on SIGTERM sends away who waits with 1012, lets who talks finish, and ends', async () => {
    const { child, admitted, waiting } = await start({ WORD_MS: '300', CLOSE_GRACE: '1500ms' })
    const exited = once(child, 'exit')
    const talking = await admitted()
    const second = await waiting(1)
    talking.socket.send('so much')
    await talking.hears('answer')
    child.kill('SIGTERM')
    expect(await second.hears('refused')).toMatchObject({ code: 'FQ_DRAINING' })
    expect((await second.closed)[0]).toBe(1012)
    await talking.hears('answered')
    expect((await talking.closed)[0]).toBe(1012)
    expect(await exited).toEqual([0, null])
  })

  it('has a page with sessions in line, which come back when they were sent away', async () => {
    const { url, untilCounts } = await start({ MAX_QUEUE_SIZE: '1' })
    const executablePath = process.env['CHROMIUM']
    if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(url)
    const session = (number: number) => page.getByRole('listitem').nth(number)
    for (const says of ['Your turn', 'Next in line', 'is full']) {
      await page.getByRole('button', { name: 'Open a session' }).click()
      await page.getByRole('status').last().getByText(says).waitFor()
    }
    await session(0).getByLabel('Say something').fill('<b>fair</b> enough')
    await session(0).getByRole('button', { name: 'Say it' }).click()
    await session(0).getByText('<b>fair</b> enough').waitFor()
    expect(await page.getByRole('listitem').count()).toBe(3)
    await session(0).getByRole('button', { name: 'Leave' }).click()
    await session(0).getByText('Your turn').waitFor()
    await session(1).getByText('Next in line').waitFor()
    await page.close()
    await untilCounts(0, 0)
  })
})

describe('Two servers with WebSockets', () => {
  const redis = useRedis()

  it('share one line on one Redis', async () => {
    const env = { REDIS_URL: redis.server.url }
    const [here, there] = [await start(env), await start(env)]
    const first = await here.admitted()
    const second = await there.waiting(1)
    expect(await second.hears('waiting')).toMatchObject({ position: 1 })
    first.socket.close()
    await second.hears('admitted')
  })
})
