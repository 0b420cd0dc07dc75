import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { QueueStatus } from '@fairqueue/core'
import { expect, onTestFinished, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import { RawClient } from '../kit/rawHttp.js'

const PROGRAM = fileURLToPath(new URL('../dist/programs/gatedServer.js', import.meta.url))

/** A server in a process of its own. */
class GatedServer {
  readonly #port: number

  private constructor(port: number) {
    this.#port = port
  }

  static async start(redisPort: number): Promise<GatedServer> {
    const child = fork(PROGRAM, [String(redisPort)], { execArgv: [] })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    const [port] = (await once(child, 'message')) as [number]
    return new GatedServer(port)
  }

  /** Sends a request for work, and does not wait for it. */
  async work(): Promise<RawClient> {
    const client = await RawClient.connect(this.#port)
    onTestFinished(() => client.leave())
    return client.request('GET', '/work')
  }

  async ask(path: string): Promise<string> {
    const client = await RawClient.connect(this.#port)
    const { body } = await client.request('GET', path).response()
    client.leave()
    return body
  }

  async status(): Promise<QueueStatus> {
    return JSON.parse(await this.ask('/status')) as QueueStatus
  }
}

async function eventually(read: () => Promise<Partial<QueueStatus>>, expected: Partial<QueueStatus>): Promise<void> {
  await expect.poll(read, { interval: 10, timeout: 15_000 }).toMatchObject(expected)
}

const redis = useRedis()

test('switching a queue off lets those who wait on every server pass at once, switching it on holds the line again', async () => {
  const [a, b] = [await GatedServer.start(redis.server.port), await GatedServer.start(redis.server.port)]
  await (await a.work()).until('counted')
  const waiting = [await a.work(), await b.work(), await b.work()]
  await eventually(() => b.status(), { running: 1, waiting: 3 })

  await b.ask('/configure?enabled=false')
  for (const client of waiting) await client.until('passed')
  await eventually(() => a.status(), { enabled: false, running: 1, waiting: 0 })
  await (await a.work()).until('passed')
  await (await b.work()).until('passed')

  await a.ask('/configure?enabled=true')
  await eventually(() => b.status(), { enabled: true })
  const next = [await b.work()]
  await eventually(() => a.status(), { running: 1, waiting: 1 })
  next.push(await a.work())
  await eventually(() => a.status(), { running: 1, waiting: 2 })
  await b.ask('/finish')
  // What passed uncounted holds no place; only the end of what was counted lets the next one in.
  expect(next[0]!.received).toBe('')
  await a.ask('/finish')
  await next[0]!.until('counted')
  expect(next[1]!.received).toBe('')
  await b.ask('/finish')
  await next[1]!.until('counted')
  await a.ask('/finish')
  await eventually(() => a.status(), { running: 0, waiting: 0 })
})
