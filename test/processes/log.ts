import { hrtime } from 'node:process'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Happening, LogEntry } from '../programs/queueProcess.js'

/** Milliseconds of the machine's monotonic clock, the same in all its processes. */
export function machineNow(): number {
  return Number(hrtime.bigint()) / 1e6
}

type EntryOf<What extends Happening['what']> = Extract<LogEntry, { readonly what: What }>

/** One run of one ticket. */
export interface Run {
  readonly process: string
  readonly ticket: string
  readonly number: string
  readonly fence: number
  readonly fromMs: number
  /** Infinity while it runs. */
  readonly toMs: number
  readonly end: 'ended' | 'lost' | 'killed' | 'none'
}

/** The log of all processes, read while it grows. */
export class Log {
  readonly path: string
  readonly #file: number
  #entries: LogEntry[] = []
  #offset = 0
  #torn = ''

  constructor(path: string) {
    this.path = path
    this.#file = openSync(path, 'a+')
  }

  close(): void {
    closeSync(this.#file)
  }

  /** What the test does to a process. */
  note(process: string, what: 'killed' | 'stopped' | 'resumed'): EntryOf<typeof what> {
    const entry = { atMs: machineNow(), process, what }
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    return entry
  }

  /** All that has been written up to now, in the order of time. */
  entries(): readonly LogEntry[] {
    const buffer = Buffer.alloc(1 << 16)
    for (;;) {
      const length = readSync(this.#file, buffer, 0, buffer.length, this.#offset)
      if (length === 0) break
      this.#offset += length
      const lines = (this.#torn + buffer.toString('utf8', 0, length)).split('\n')
      this.#torn = lines.pop()!
      for (const line of lines) this.#entries.push(JSON.parse(line) as LogEntry)
    }
    // Two processes may write in another order than they read the clock.
    this.#entries = this.#entries.toSorted((a, b) => a.atMs - b.atMs)
    return this.#entries
  }

  /** The entries of one kind. */
  of<What extends Happening['what']>(what: What): EntryOf<What>[] {
    return this.entries().filter((entry) => entry.what === what) as EntryOf<What>[]
  }

  /** The names of the tickets that something happened to, in order. */
  tickets(what: 'entered' | 'started' | 'ended' | 'lost' | 'refused'): string[] {
    return this.of(what).map(({ ticket }) => ticket)
  }

  /** All runs up to now, in the order of their starts. A run ends at the latest when its process is killed. */
  runs(): Run[] {
    const ends = new Map([...this.of('ended'), ...this.of('lost')].map((entry) => [entry.ticket, entry]))
    const killed = new Map(this.of('killed').map(({ process, atMs }) => [process, atMs]))
    return this.of('started').map(({ process, ticket, number, fence, atMs }) => {
      const end = ends.get(ticket)
      const killedAtMs = killed.get(process) ?? Infinity
      const how = end?.what ?? (killedAtMs < Infinity ? 'killed' : 'none')
      return { process, ticket, number, fence, fromMs: atMs, toMs: end?.atMs ?? killedAtMs, end: how }
    })
  }
}

/** How many ran at the same time at most. */
export function mostAtOnce(runs: readonly Pick<Run, 'fromMs' | 'toMs'>[]): number {
  const steps = runs.flatMap(({ fromMs, toMs }) => [
    { atMs: fromMs, by: 1 },
    { atMs: toMs, by: -1 },
  ])
  let running = 0
  let most = 0
  for (const { by } of steps.toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    running += by
    most = Math.max(most, running)
  }
  return most
}
