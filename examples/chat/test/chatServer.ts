import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { QueueStatus } from '@fairqueue/core'
import { startExample } from '@fairqueue/test/kit/exampleServer'
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
    const { process: child, url } = await startExample(program, env)
    return new ChatServer(child, url)
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
