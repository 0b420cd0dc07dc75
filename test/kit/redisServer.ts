import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const PROGRAM = process.env['REDIS_SERVER'] ?? 'redis-server'

/** A Redis server of our own on a free port of this machine, without persistence. It is ended by its pid. */
export class RedisServer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly #settings: readonly string[]
  #directory: string | undefined
  #process: ChildProcess | undefined

  private constructor(port: number, settings: readonly string[]) {
    this.port = port
    this.#settings = settings
  }

  /** Has a port but does not run yet; `settings` as on the command line, e.g. `'--maxmemory', '1mb'`. */
  static async absent(...settings: string[]): Promise<RedisServer> {
    return new RedisServer(await freePort(), settings)
  }

  static async started(...settings: string[]): Promise<RedisServer> {
    const server = await RedisServer.absent(...settings)
    await server.start()
    return server
  }

  get pid(): number {
    const pid = this.#process?.pid
    if (pid === undefined) throw new Error('The Redis server does not run.')
    return pid
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    this.#directory ??= await mkdtemp(join(tmpdir(), 'fairqueue-redis-'))
    const place = ['--port', String(this.port), '--bind', this.host, '--dir', this.#directory]
    const nothingKept = ['--save', '', '--appendonly', 'no']
    const child = spawn(PROGRAM, [...place, ...nothingKept, ...this.#settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#process = child
    process.once('exit', this.#killWithUs)
    const log: string[] = []
    const ready = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        log.push(line)
        if (line.includes('eady to accept connections')) break
      }
      // Whatever else it says must not fill its pipe.
      child.stdout.resume()
    })()
    await Promise.race([ready, once(child, 'exit')])
    if (child.exitCode !== null) throw new Error(`${PROGRAM} ended with ${child.exitCode}:\n${log.join('\n')}`)
  }

  /** Lets it end by itself. */
  async stop(): Promise<void> {
    this.resume()
    await this.#end('SIGTERM')
    if (this.#directory !== undefined) await rm(this.#directory, { recursive: true, force: true })
    this.#directory = undefined
  }

  /** Ends it as a power cut would. It can be started again. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** The same port, another server, nothing remembered. */
  async restartEmpty(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Connections stay open, nothing is answered. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    this.#process = undefined
    process.off('exit', this.#killWithUs)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  readonly #killWithUs = (): void => {
    this.#process?.kill('SIGKILL')
  }
}

/** A port of this machine on which nobody listens now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}
