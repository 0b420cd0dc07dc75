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
function toText(value: number | boolean): string {
  return value === Infinity ? 'inf' : String(value)
}

function toTexts(values: Partial<Settings>): Texts {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]))
}

function fromText(name: keyof Settings, text: string): Settings[keyof Settings] {
  return readSetting(name, name === 'enabled' ? text === 'true' : text === 'inf' ? Infinity : Number(text))
}

/** Reads what is legal; garbage is left out. */
function fromTexts(texts: unknown): Partial<Settings> {
  const values: Record<string, unknown> = {}
  if (typeof texts !== 'object' || texts === null) return values
  for (const name of settingNames) {
    const text = (texts as Texts)[name]
    if (typeof text !== 'string') continue
    try {
      values[name] = fromText(name, text)
    } catch {
      // Garbage in the store never replaces a good value.
    }
  }
  return values
}

function parse(text: unknown): Record<string, unknown> {
  if (typeof text !== 'string' || text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
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

/** Settings as a script replies them; what cannot be read is taken from `code`, this instance's own. */
export function readSettings(text: unknown, code: Settings): SettingsNews | null {
  if (typeof text !== 'string' || text === '') return null
  const fields = parse(text)
  const by = fields['by']
  return {
    record: {
      values: { ...code, ...fromTexts(fields) },
      operator: fromTexts(parse(fields['operator'])),
      version: Number(fields['version']) || 0,
      by: typeof by === 'string' && by !== '' ? by : null,
    },
    code: { ...code, ...fromTexts(parse(fields['code'])) },
    revision: Number(fields['revision']) || 0,
    broken: fields['broken'] === true,
  }
}
