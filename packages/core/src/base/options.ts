import { readDuration } from './duration.js'
import { OptionError } from './errors.js'

/** Shows a value in an error message, bounded and without line ends. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return Object.is(value, -0) ? '-0' : String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}

/** Makes the error for an option that is not what it must be. */
export function optionError(option: string, expected: string, value: unknown): OptionError {
  return new OptionError(option, `Option "${option}" must be ${expected}, got ${show(value)}.`)
}

/** Bounds of a number or duration. */
export interface Range {
  /** Least value allowed; default 0. */
  readonly min?: number
  /** Whether `Infinity` ("no limit") is allowed; default false. */
  readonly infinite?: boolean
}

/** Reads a whole number ≥ `min`; -0 counts as 0. @throws OptionError */
export function readInteger(option: string, value: unknown, { min = 0, infinite = false }: Range = {}): number {
  if (infinite && value === Infinity) return Infinity
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value + 0
  throw optionError(option, `a whole number of at least ${min}${infinite ? ' or Infinity' : ''}`, value)
}

/** Reads a duration in milliseconds; `min: 1` refuses 0. @throws OptionError */
export function readDurationMs(option: string, value: unknown, { min = 0 }: Range = {}): number {
  const ms = readDuration(value)
  if (ms !== undefined && ms >= min) return ms
  throw optionError(
    option,
    `a duration${min > 0 ? ` of at least ${min} ms` : ''} (milliseconds, or text such as "20s")`,
    value,
  )
}

/** Reads true or false. @throws OptionError */
export function readBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw optionError(option, 'true or false', value)
}

/** Reads one of a few words. @throws OptionError */
export function readWord<Word extends string>(option: string, value: unknown, words: readonly Word[]): Word {
  if (words.includes(value as Word)) return value as Word
  throw optionError(option, `one of ${words.map((word) => `'${word}'`).join(', ')}`, value)
}

/** Refuses names that nobody reads, so that a mistyped option is not silently without effect. @throws OptionError */
export function refuseUnknown(given: object, known: ReadonlySet<string>): void {
  for (const name of Object.keys(given)) {
    if (!known.has(name))
      throw new OptionError(name, `Unknown option ${show(name)}. Known options: ${[...known].toSorted().join(', ')}.`)
  }
}
