import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** An example's server, and where it says that it listens. */
export interface ExampleServer {
  readonly process: ChildProcess
  readonly url: string
}

/** Runs an example's compiled server as a process of its own on a free port; it is ended when the test ends. */
export async function startExample(
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleServer> {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text))
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  for await (const line of createInterface({ input: child.stdout })) {
    // What stands behind the address, and a path in it, is for people.
    const url = /^(http:\/\/[\w.:]+)(?:\/\S*)?: /.exec(line)?.[1]
    if (url !== undefined) return { process: child, url }
  }
  throw new Error(`The server ended before it listened: ${complaints.join('')}`)
}
