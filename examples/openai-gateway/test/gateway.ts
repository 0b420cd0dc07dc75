import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import OpenAI, { type ClientOptions } from 'openai'
import type { QueueStatus } from '@fairqueue/core'
import { startExample } from '@fairqueue/test/kit/exampleServer'
import { eventually } from './upstream.js'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

/** The example as a process of its own on a free port, ended when the test ends. */
export class Gateway {
  readonly process: ChildProcess
  readonly url: string

  private constructor(process: ChildProcess, url: string) {
    this.process = process
    this.url = url
  }

  static async started(env: Readonly<Record<string, string>> = {}): Promise<Gateway> {
    const { process: child, url } = await startExample(PROGRAM, env)
    return new Gateway(child, url)
  }

  client(options: ClientOptions = {}): OpenAI {
    return new OpenAI({ baseURL: `${this.url}/v1`, apiKey: 'mine', maxRetries: 0, ...options })
  }

  /** Waits until so many run and so many wait. */
  async untilCounts(running: number, waiting: number): Promise<void> {
    const counts = async (): Promise<unknown> => {
      const status = (await (await fetch(`${this.url}/status`)).json()) as QueueStatus
      return [status.running, status.waiting]
    }
    await eventually(counts).toEqual([running, waiting])
  }
}
