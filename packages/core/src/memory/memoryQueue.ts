import { Chain, type Link } from '../base/chain.js'
import { ConflictError } from '../base/errors.js'
import type { Clock } from '../base/clock.js'
import type { InstanceListener, Place } from '../store/contract.js'
import {
  applyChange,
  sameSettings,
  type Settings,
  type SettingsChange,
  type SettingsRecord,
} from '../store/settings.js'
import { Line } from './line.js'

/** What a queue needs of an instance. */
export interface Member {
  readonly declared: Settings
  readonly clock: Clock
  readonly listener: InstanceListener
}

/** What a queue notes on a place. `order` is its arrival number. */
export interface Entry extends Link<Entry> {
  readonly order: number
  readonly place: Place
  readonly owner: Member
  isRunning: boolean
}

/** The state of one queue of one process: its line, who runs, its settings. */
export class MemoryQueue {
  readonly instances: Set<Member> = new Set()
  readonly #waiting = new Line<Entry>()
  readonly #running = new Chain<Entry>()
  /** Permits of all entries in `#running`. */
  #used = 0
  /** Arrival numbers and fences are one series. */
  #lastNumber = 0
  #grants = 0
  #granting = false
  /** The settings in the code of the instance that started last. */
  #code: Settings
  #settings: SettingsRecord

  constructor(declared: Settings) {
    this.#code = declared
    this.#settings = { values: declared, operator: {}, version: 0, by: null }
  }

  get settings(): SettingsRecord {
    return this.#settings
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get used(): number {
    return this.#used
  }

  get grants(): number {
    return this.#grants
  }

  /** The code value of the instance that started last counts (R23); an operator's value wins over it. */
  declare(declared: Settings, by: Member): void {
    const before = this.#settings
    this.#code = declared
    this.#replaceSettings({ ...before, values: { ...declared, ...before.operator } })
    for (const instance of this.instances) {
      if (instance !== by && !sameSettings(instance.declared, declared))
        instance.listener.configConflict(instance.declared, declared)
    }
  }

  configure(change: SettingsChange): SettingsRecord {
    const { operator, version } = this.#settings
    if (change.ifVersion !== null && change.ifVersion !== version) {
      throw new ConflictError(`The settings are at version ${version}, not ${change.ifVersion}.`, version)
    }
    const next = applyChange(operator, change.values)
    const record = { values: { ...this.#code, ...next }, operator: next, version: version + 1, by: change.by }
    this.#replaceSettings(record)
    return record
  }

  #replaceSettings(record: SettingsRecord): void {
    this.#settings = record
    for (const instance of this.instances) {
      instance.listener.settingsChanged(record)
      // Who was told may have changed them again: then all know those already.
      if (this.#settings !== record) return
    }
    this.#refuseImpossible(record.values.concurrency)
    this.#grantNext()
  }

  /** Ends the tickets that need more than the limit can ever give now (R8). At limit 0 everybody waits. */
  #refuseImpossible(concurrency: number): void {
    if (concurrency === 0) return
    for (const entry of [...this.#waiting].filter(({ place }) => place.permits > concurrency)) {
      this.#waiting.remove(entry)
      entry.place.slot = undefined
      entry.place.onRefused('limitFell')
    }
  }

  enter(place: Place, owner: Member): void {
    const { concurrency, maxQueueSize } = this.#settings.values
    if (concurrency > 0 && place.permits > concurrency) {
      place.onRefused('permits')
      return
    }
    const order = this.#nextNumber()
    const entry: Entry = { order, place, owner, isRunning: false, previous: undefined, next: undefined }
    if (this.#waiting.size === 0 && this.#used + place.permits <= concurrency) {
      this.#grant(entry)
    } else if (this.#waiting.size >= maxQueueSize) {
      place.onRefused('full')
    } else {
      place.slot = entry
      this.#waiting.insert(entry)
      place.onQueued(this.#waiting.size)
    }
  }

  /** Takes a place out, waiting or running, and lets in whom that allows, in the same step (promise 3: hand-over). */
  giveUp(entry: Entry): void {
    if (entry.isRunning) {
      entry.isRunning = false
      this.#running.remove(entry)
      this.#used -= entry.place.permits
    } else if (!this.#waiting.remove(entry)) return
    entry.place.slot = undefined
    this.#grantNext()
  }

  leave(instance: Member): void {
    this.instances.delete(instance)
    const own = [...this.#waiting, ...this.#running].filter((entry) => entry.owner === instance)
    for (const entry of own) this.giveUp(entry)
  }

  position(place: Place): number | null {
    const rank = place.slot === undefined ? -1 : this.#waiting.rank(place.slot as Entry)
    return rank < 0 ? null : rank + 1
  }

  /** Only one loop grants at a time: a granted ticket that is released within its own callback must not deepen the stack. */
  #grantNext(): void {
    if (this.#granting) return
    this.#granting = true
    try {
      for (let head = this.#waiting.head; head !== undefined; head = this.#waiting.head) {
        if (this.#used + head.place.permits > this.#settings.values.concurrency) return
        this.#waiting.remove(head)
        this.#grant(head)
      }
    } finally {
      this.#granting = false
    }
  }

  #grant(entry: Entry): void {
    const { place, owner } = entry
    place.slot = entry
    entry.isRunning = true
    this.#running.add(entry)
    this.#used += place.permits
    this.#grants += 1
    place.onGranted({ fence: this.#nextNumber(), endsAtMs: owner.clock.now() + this.#settings.values.leaseMs })
  }

  #nextNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }
}
