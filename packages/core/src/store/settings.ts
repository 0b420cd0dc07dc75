import { readBoolean, readDurationMs, readInteger, refuseUnknown } from '../base/options.js'
import { readKeyCaps, sameKeyCaps, type KeyCaps } from './keyCaps.js'

/** What a queue allows. Durations in milliseconds. */
export interface Settings {
  /** Permits that may run at once; 0: nobody runs; Infinity: no limit. */
  readonly concurrency: number
  /** Tickets that may wait; 0: no line; Infinity: no limit. */
  readonly maxQueueSize: number
  /** How long a ticket may wait; 0: try once. */
  readonly maxWaitMs: number
  /** Hard cap on one ticket's run. */
  readonly leaseMs: number
  /** false: requests pass without a place. */
  readonly enabled: boolean
  /** What each key may have of all that (R22). */
  readonly perKey: KeyCaps
}

/** The settings in force and where they come from. */
export interface SettingsRecord {
  readonly values: Settings
  /** What an operator set; wins over the values in code until cleared. */
  readonly operator: Partial<Settings>
  /** Grows by one with each change of an operator; 0 if there never was one. */
  readonly version: number
  /** Who made the last change, as given by them; null if unknown. */
  readonly by: string | null
}

/** A change by an operator. A value of `null` clears the operator's value, so that the one in code counts again. */
export interface SettingsChange {
  readonly values: { readonly [Name in keyof Settings]?: Settings[Name] | null }
  /** Apply only if this is the version in force. */
  readonly ifVersion: number | null
  readonly by: string | null
}

const readers: { readonly [Name in keyof Settings]: (value: unknown) => Settings[Name] } = {
  concurrency: (value) => readInteger('concurrency', value, { infinite: true }),
  maxQueueSize: (value) => readInteger('maxQueueSize', value, { infinite: true }),
  maxWaitMs: (value) => readDurationMs('maxWaitMs', value),
  leaseMs: (value) => readDurationMs('leaseMs', value, { min: 1 }),
  enabled: (value) => readBoolean('enabled', value),
  perKey: readKeyCaps,
}

/** The names of all settings. */
export const settingNames = Object.keys(readers) as readonly (keyof Settings)[]

/** Reads one setting's value. @throws OptionError */
export function readSetting<Name extends keyof Settings>(name: Name, value: unknown): Settings[Name] {
  return readers[name](value)
}

/** Reads an operator's change; durations may be text. @throws OptionError */
export function readChange(values: object): SettingsChange['values'] {
  refuseUnknown(values, new Set(settingNames))
  const change: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    change[name] = value === null ? null : readSetting(name as keyof Settings, value)
  }
  return change
}

/** The operator's settings after a change. */
export function applyChange(operator: Partial<Settings>, change: SettingsChange['values']): Partial<Settings> {
  return Object.fromEntries(
    Object.entries({ ...operator, ...change }).filter(([, value]) => value !== null && value !== undefined),
  )
}

/** Whether two settings are the same in every name. */
export function sameSettings(a: Settings, b: Settings): boolean {
  return settingNames.every((name) => (name === 'perKey' ? sameKeyCaps(a.perKey, b.perKey) : a[name] === b[name]))
}
