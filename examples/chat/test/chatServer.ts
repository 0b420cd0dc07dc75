import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { QueueStatus } from '@fairqueue/core'
import { onTestFinished } from 'vitest'
import { eventually } from './eventually.js'

/** Starts one server of an example. */
export type StartChat = (env?: Readonly<Record<string, string>>) => Promise<ChatServer>

/** Starts the servers of the example with this folder's name. */
export function chatServers(example: string): StartChat {
  const program = fileURLToPath(new URL(`../../${example}/dist/server.js`, import.meta.url))
  return (env) => ChatServer.started(program, env)
}

/** The example's server as a process of its own on a free port, ended when the test ends. */
export class ChatServer {
  readonly process: ChildProcess
  readonly url: string

  private constructor(process: ChildProcess, url: string) {
    this.process = process
    this.url = url
  }

  static async started(program: string, env: Readonly<Record<string, string>> = {}): Promise<ChatServer> {
    const child = spawn(process.execPath, [program], {
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
      const url = /^http:\/\/[\w.:]+(?=: )/.exec(line)?.[0]
      if (url !== undefined) return new ChatServer(child, url)
    }
    throw new Error(`The server ended before it listened: ${complaints.join('')}`)
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  async status(): Promise<QueueStatus> {
    return (await (await fetch(`${this.url}/status`)).json()) as QueueStatus
  }

  /** Waits until so many run and so many wait, over all servers. */
  async untilCounts(running: number, waiting: number): Promise<void> {
    const counts = async (): Promise<unknown> => {
      const status = await this.status()
      return [status.running, status.waiting]
    }
    await eventually(counts).toEqual([running, waiting])
  }
}
