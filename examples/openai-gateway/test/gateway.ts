import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import OpenAI, { type ClientOptions } from 'openai'
import { onTestFinished } from 'vitest'
import type { QueueStatus } from '@fairqueue/core'
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
    const child = spawn(process.execPath, [PROGRAM], {
      env: { PATH: process.env['PATH'], PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const complaints: string[] = []
    child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text))
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    })
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^http:\/\/[\w.:]+(?=\/v1: )/.exec(line)?.[0]
      if (url !== undefined) return new Gateway(child, url)
    }
    throw new Error(`The gateway ended before it listened: ${complaints.join('')}`)
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
