import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { QueueStatus } from '@fairqueue/core'
import type { Answer, Command, Load, ProcessConfig } from '../programs/queueProcess.js'
import type { Log } from './log.js'

const PROGRAM = fileURLToPath(new URL('../dist/programs/queueProcess.js', import.meta.url))

interface PromiseParts {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** A process of its own with one instance of the line, led from here. */
export class QueueProcess {
  readonly name: string
  readonly #child: ChildProcess
  readonly #log: Log
  readonly #asked = new Map<number, PromiseParts>()
  readonly #exited: Promise<unknown>
  #lastId = 0

  /** Resolves when it is connected. */
  readonly ready: Promise<unknown>

  constructor(config: ProcessConfig, log: Log) {
    this.name = config.name
    this.#log = log
    this.#child = fork(PROGRAM, [JSON.stringify(config)], { execArgv: [] })
    this.#exited = once(this.#child, 'exit')
    this.#child.on('message', (answer: Answer) => {
      this.#asked.get(answer.id)?.resolve(answer)
      this.#asked.delete(answer.id)
    })
    this.ready = this.#answer(0)
    this.#child.on('exit', (code, signal) => {
      if (this.#asked.size === 0) return
      const faults = log.of('fault').map(({ error }) => `\n${error}`)
      for (const { reject } of this.#asked.values())
        reject(new Error(`Process ${this.name} has ended with ${code ?? signal}.${faults.join()}`))
    })
  }

  /** Takes tickets; resolves when it has asked for all of them. Unless told otherwise they run until `finish`. */
  async enter(count: number, { workMs = null, everyMs = 0 }: Partial<Load> = {}): Promise<void> {
    await this.#ask({ do: 'enter', count, workMs, everyMs })
  }

  /** Resolves when it has heard from the store what became of each of its tickets. */
  async answered(): Promise<void> {
    await this.#ask({ do: 'answered' })
  }

  /** Ends the work of its oldest runs. */
  async finish(count = 1): Promise<void> {
    await this.#ask({ do: 'finish', count })
  }

  async status(): Promise<QueueStatus> {
    const [status] = await this.statuses(1)
    return status!
  }

  /** Asks so many times at once. */
  async statuses(count: number): Promise<readonly QueueStatus[]> {
    const { statuses } = await this.#ask({ do: 'status', count })
    return statuses!
  }

  async configure(concurrency: number, by: string): Promise<void> {
    await this.#ask({ do: 'configure', concurrency, by })
  }

  /** SIGKILL. @returns when, by the machine's clock */
  async kill(): Promise<number> {
    const { atMs } = this.#log.note(this.name, 'killed')
    await this.end()
    return atMs
  }

  /** SIGSTOP: it runs no more, but its connections stay and take what is sent. @returns when, by the machine's clock */
  stop(): number {
    this.#child.kill('SIGSTOP')
    return this.#log.note(this.name, 'stopped').atMs
  }

  /** SIGCONT. @returns when, by the machine's clock */
  resume(): number {
    const { atMs } = this.#log.note(this.name, 'resumed')
    this.#child.kill('SIGCONT')
    return atMs
  }

  /** Closes the queue; then it has to end by itself. */
  async close(): Promise<void> {
    await this.#ask({ do: 'close' })
    this.#child.disconnect()
    const [code] = (await this.#exited) as [number | null]
    if (code !== 0) throw new Error(`Process ${this.name} ended with ${code}.`)
  }

  /** Makes sure that it is gone. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  async #ask(command: Command): Promise<Answer> {
    this.#lastId += 1
    const id = this.#lastId
    this.#child.send({ id, ...command })
    const answer = await this.#answer(id)
    if (answer.error !== undefined) throw new Error(`Process ${this.name} to "${command.do}": ${answer.error}`)
    return answer
  }

  #answer(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }))
  }
}
