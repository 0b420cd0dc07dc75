import type { SettingsNews } from '../store/exchanger.js'
import {
  readSetting,
  settingNames,
  type Settings,
  type SettingsChange,
  type SettingsRecord,
} from '../store/settings.js'

type Texts = Partial<Record<keyof Settings, string | false>>

/** Values travel as text: JSON has no Infinity, and Lua's JSON keeps 14 digits (R3). */
function toText(value: Settings[keyof Settings]): string {
  if (typeof value === 'object') return `${toText(value.concurrency)} ${toText(value.maxQueueSize)}`
  return value === Infinity ? 'inf' : String(value)
}

function toTexts(values: Partial<Settings>): Texts {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]))
}

const WORDS: Readonly<Record<string, number | boolean>> = { inf: Infinity, true: true, false: false }

/** @throws OptionError for garbage */
function fromText(name: keyof Settings, text: string): Settings[keyof Settings] {
  if (name !== 'perKey') return readSetting(name, readValue(text))
  const [concurrency = '', maxQueueSize = ''] = text.split(' ')
  return readSetting(name, { concurrency: readValue(concurrency), maxQueueSize: readValue(maxQueueSize) })
}

function readValue(text: string): number | boolean {
  return WORDS[text] ?? (text === '' ? Number.NaN : Number(text))
}

/** Reads settings; null if any of it is garbage. */
function fromTexts(texts: unknown): Partial<Settings> | null {
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return null
  try {
    const values: Record<string, unknown> = {}
    for (const [name, text] of Object.entries(texts)) {
      if (!settingNames.includes(name as keyof Settings)) return null
      values[name] = fromText(name as keyof Settings, String(text))
    }
    return values
  } catch {
    return null
  }
}

function fromJson(json: unknown): Partial<Settings> | null {
  try {
    return fromTexts(JSON.parse(String(json)))
  } catch {
    return null
  }
}

/** The `declared` argument of the scripts: settings in code, and the operator's as far as known. */
export function writeRecord(code: Settings, { operator, version, by }: SettingsRecord): string {
  return JSON.stringify({ code: toTexts(code), operator: toTexts(operator), version: String(version), by: by ?? '' })
}

/** The `values` argument of `configure`; false clears a value. */
export function writeChange(values: SettingsChange['values']): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? false : toText(value)])),
  )
}

/**
 * Settings as a script replies them; null if it replied none. What cannot be read is taken from `ours`, the values in our own code.
 * @throws Error if this is no such reply
 */
export function readSettings(text: string, ours: Settings): SettingsNews | null {
  if (text === '') return null
  const fields = JSON.parse(text) as Record<string, unknown> | null
  const inForce = fromTexts(fields?.['inForce'])
  if (!fields || inForce === null) throw new Error(`malformed settings: ${text.slice(0, 200)}`)
  const code = fromJson(fields['code'])
  const operator = fromJson(fields['operator'])
  const by = fields['by']
  return {
    record: {
      values: { ...ours, ...code, ...operator },
      operator: operator ?? {},
      version: Number(fields['version']) || 0,
      by: typeof by === 'string' && by !== '' ? by : null,
    },
    inForce,
    code: { ...ours, ...code },
    revision: Number(fields['revision']),
    broken: code === null || operator === null,
  }
}
