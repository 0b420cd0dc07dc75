import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('server.js', import.meta.url))

/** One of the servers, as a process of its own on a free port. */
export class ServerProcess {
  readonly name: string
  readonly #redisUrl: string
  #child: ChildProcess | undefined
  #url: string | null = null

  constructor(name: string, redisUrl: string) {
    this.name = name
    this.#redisUrl = redisUrl
    process.once('exit', () => this.kill())
  }

  /** Where it listens; null while it does not. */
  get url(): string | null {
    return this.#url
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Resolves when it listens, at once if it runs. @throws Error if it ends before it listens */
  async start(): Promise<void> {
    if (this.#child !== undefined) return
    const env = { ...process.env, NAME: this.name, PORT: '0', REDIS_URL: this.#redisUrl }
    const child = fork(PROGRAM, { env })
    this.#child = child
    child.once('exit', () => {
      this.#child = undefined
      this.#url = null
    })
    const said = await Promise.race([once(child, 'message') as Promise<[{ url: string }]>, once(child, 'exit')])
    if (this.#child !== child) throw new Error(`Server ${this.name} ended before it listened.`)
    this.#url = (said as [{ url: string }])[0].url
  }

  /** Ends it as a power cut would: it can say nothing to anybody. */
  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Lets it end by itself. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
}
