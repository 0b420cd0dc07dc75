import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FairQueueOptions, QueueStatus } from '@fairqueue/core'
import { onTestFinished } from 'vitest'
import { RawClient } from '../kit/rawHttp.js'

const PROGRAM = fileURLToPath(new URL('../dist/programs/gatedServer.js', import.meta.url))

/** A server in a process of its own, whose work is done behind a queue that all such servers on one Redis share. */
export class GatedServer {
  readonly #process: ChildProcess
  readonly #port: number

  private constructor(process: ChildProcess, port: number) {
    this.#process = process
    this.#port = port
  }

  static async start(redisPort: number, options: Partial<FairQueueOptions> = {}): Promise<GatedServer> {
    const child = fork(PROGRAM, [String(redisPort), JSON.stringify(options)], { execArgv: [] })
    const server = new GatedServer(child, ((await once(child, 'message')) as [number])[0])
    onTestFinished(() => server.kill())
    return server
  }

  /** Sends a request for work, and does not wait for it. */
  async work(headers: Readonly<Record<string, string>> = {}): Promise<RawClient> {
    const client = await RawClient.connect(this.#port)
    onTestFinished(() => client.leave())
    return client.request('GET', '/work', headers)
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

  /** Resolves when the process is no more. */
  async kill(): Promise<void> {
    if (this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}
