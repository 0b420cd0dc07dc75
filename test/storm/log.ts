import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, Happening } from './entry.js'

/** The wall clock, which all processes of the machine share, but never backwards in one process. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

/** One party's file. An entry is appended at once and in one piece: what is written survives its process. */
export class LogWriter {
  readonly #by: string
  readonly #file: number

  constructor(directory: string, by: string) {
    this.#by = by
    this.#file = openSync(join(directory, `${by}.log`), 'a')
  }

  /** `atMs` where the time is another's. */
  note(happening: Happening, atMs = nowMs()): void {
    const entry: Entry = { atMs, by: this.#by, ...happening }
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
  }
}

/** All entries of all parties, in the order of time; of one party, in the order of writing. */
export function readLogs(directory: string): Entry[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.log'))
    .flatMap((file) => {
      const lines = readFileSync(join(directory, file), 'utf8').split('\n')
      // What a killed process did not write to its end is not there.
      return lines.slice(0, -1).map((line) => JSON.parse(line) as Entry)
    })
    .toSorted((a, b) => a.atMs - b.atMs)
}
