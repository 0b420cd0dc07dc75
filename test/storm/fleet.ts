import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Inspection, StormTerms } from './entry.js'
import type { Link } from './link.js'
import type { LogWriter } from './log.js'
import type { ServerConfig } from './server.js'
import type { Topology } from './topology.js'

const PROGRAM = fileURLToPath(new URL('server.js', import.meta.url))

/** How long a server may take to end after SIGTERM: the grace of its queue, what the store may take to answer, and as much for a busy machine. */
const EXIT_MS = 8000

/** A place for one server process after the other, with a way to the store that they share. */
export class Berth {
  readonly link: Link
  readonly #letter: string
  readonly #directory: string
  readonly #terms: StormTerms
  readonly #log: LogWriter
  #port = 0
  #generation = 0
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #complaints = ''
  #up = false

  private constructor(letter: string, directory: string, terms: StormTerms, log: LogWriter, link: Link) {
    this.#letter = letter
    this.#directory = directory
    this.#terms = terms
    this.#log = log
    this.link = link
  }

  static async open(
    letter: string,
    directory: string,
    terms: StormTerms,
    log: LogWriter,
    topology: Topology,
  ): Promise<Berth> {
    const berth = new Berth(letter, directory, terms, log, await topology.openLink())
    await berth.start()
    return berth
  }

  /** Of the process that is there now, or was last. */
  get name(): string {
    return `${this.#letter}${this.#generation}`
  }

  get port(): number {
    return this.#port
  }

  /** Whether a process listens there that nobody has told to end. */
  get up(): boolean {
    return this.#up
  }

  async start(): Promise<void> {
    this.#generation += 1
    const { name } = this
    const config: ServerConfig = {
      name,
      directory: this.#directory,
      port: this.#port,
      storePort: this.link.port,
      terms: this.#terms,
    }
    const child = fork(PROGRAM, [JSON.stringify(config)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#complaints = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#complaints += text))
    this.#exited = (async () => {
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
      this.#up = false
      this.#log.note({ what: 'exited', process: name, code, signal, complaints: this.#complaints })
    })()
    const listening = once(child, 'message').then(([port]) => (this.#port = port as number))
    await Promise.race([listening, this.#exited])
    this.#log.note({ what: 'started', process: name })
    this.#up = true
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGTERM' || signal === 'SIGKILL') this.#up = false
    this.#child!.kill(signal)
  }

  /** Resolves when the process has ended; one that does not end in time is killed, which its exit then shows. */
  async exited(): Promise<void> {
    const stuck = setTimeout(() => this.#child!.kill('SIGKILL'), EXIT_MS)
    await this.#exited
    clearTimeout(stuck)
  }

  async inspect(): Promise<Inspection> {
    return (await (await this.#ask('/inspect')).json()) as Inspection
  }

  /** Whether it was done; where not, it may still be. */
  async configure(concurrency: number): Promise<boolean> {
    return (await this.#ask(`/configure?concurrency=${concurrency}`, 'POST')).ok
  }

  #ask(path: string, method = 'GET'): Promise<Response> {
    const signal = AbortSignal.timeout(10_000)
    return fetch(`http://127.0.0.1:${this.#port}${path}`, { method, signal, headers: { connection: 'close' } })
  }
}
