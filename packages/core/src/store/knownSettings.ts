import type { InstanceListener } from './contract.js'
import type { SettingsNews } from './exchanger.js'
import { sameSettings, type Settings, type SettingsRecord } from './settings.js'

/** The settings as an instance knows them: its own until the store has told it of those in force (R23). */
export class KnownSettings {
  readonly #declared: Settings
  readonly #listener: InstanceListener
  #record: SettingsRecord
  #revision = -1

  constructor(declared: Settings, listener: InstanceListener) {
    this.#declared = declared
    this.#listener = listener
    this.#record = { values: declared, operator: {}, version: 0, by: null }
  }

  get record(): SettingsRecord {
    return this.#record
  }

  /** The settings in force. */
  get values(): Settings {
    return this.#record.values
  }

  /** Counts their changes; -1 while the store has told none. */
  get revision(): number {
    return this.#revision
  }

  /** Takes over what the store says, and tells the listener. */
  take({ record, inForce, code, revision, broken }: SettingsNews): void {
    this.#revision = revision
    if (broken) {
      this.#listener.troubled(
        new Error('Some of the settings in the store are garbage; what was in force stays in force.'),
      )
      this.#record = { ...this.#record, values: { ...this.#record.values, ...inForce } }
    } else {
      this.#record = record
    }
    this.#listener.settingsChanged(this.#record)
    if (!sameSettings(code, this.#declared)) this.#listener.configConflict(this.#declared, code)
  }
}
