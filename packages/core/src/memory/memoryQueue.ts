import { Chain, type Link } from '../base/chain.js'
import { ConflictError } from '../base/errors.js'
import { randomSecret } from '../base/randomId.js'
import type { Clock } from '../base/clock.js'
import type { InstanceListener, Place } from '../store/contract.js'
import { readPlaceName, writePlaceName } from '../store/placeName.js'
import {
  applyChange,
  sameSettings,
  type Settings,
  type SettingsChange,
  type SettingsRecord,
} from '../store/settings.js'
import { KeyGroups, type Whereabouts } from './keyGroups.js'
import { Line } from './line.js'

/** What a queue needs of an instance. */
export interface Member {
  readonly declared: Settings
  readonly clock: Clock
  readonly listener: InstanceListener
}

/** What a queue notes on a place. */
export interface Entry extends Link<Entry> {
  /** Its arrival number. */
  readonly order: number
  readonly place: Place
  readonly owner: Member
  state: Whereabouts
  /** For how long it is held once its turn has come, until somebody claims it; null: it is not kept for anybody. */
  claimMs: number | null
  /** When its lease ends, by its owner's clock; before the grant, nothing. */
  endsAtMs: number
}

/** The state of one queue of one process: its line, who runs, its settings. */
export class MemoryQueue {
  readonly instances: Set<Member> = new Set()
  readonly #waiting = new Line<Entry>()
  readonly #running = new Chain<Entry>()
  readonly #keys = new KeyGroups<Entry>(this.#waiting)
  /** Places that were told how they are called, by their number: those may be taken up again (R24). */
  readonly #named = new Map<number, { readonly name: string; entry: Entry }>()
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
    return this.#waiting.size + this.#keys.parked.size
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
    this.#keys.change(record.values.perKey, this.#running)
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
    const waiting = [...this.#waiting, ...this.#keys.parked]
    for (const entry of waiting.filter(({ place }) => place.permits > concurrency)) {
      // Whoever was refused before it may have given it up.
      if (entry.state === 'over') continue
      this.#takeOut(entry)
      this.#named.delete(entry.order)
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
    const entry = entryOf(place, owner, order)
    const goesFirst = this.#waiting.size === 0 && !this.#keys.parks(place.key)
    if (goesFirst && this.#used + place.permits <= concurrency) {
      this.#grant(entry)
    } else if (this.#keys.isFull(place.key)) {
      place.onRefused('keyFull')
    } else if (this.waiting >= maxQueueSize) {
      place.onRefused('full')
    } else {
      place.slot = entry
      this.#keys.waits(entry)
      place.onQueued(this.waiting)
    }
  }

  /** Takes a place out, waiting or running, and lets in whom that allows, in the same step (promise 3: hand-over). */
  giveUp(entry: Entry): void {
    if (entry.state === 'over') return
    this.#takeOut(entry)
    this.#named.delete(entry.order)
    this.#grantNext()
  }

  /** Out of the line or the running ones; its place hears nothing more. */
  #takeOut(entry: Entry): void {
    if (entry.state === 'running') {
      this.#running.remove(entry)
      this.#used -= entry.place.permits
    }
    this.#keys.goes(entry, 'over')
    entry.place.slot = undefined
  }

  /** Number and secret, made when first asked for. */
  nameOf(entry: Entry): string {
    const { order } = entry
    const known = this.#named.get(order)
    if (known !== undefined) return known.name
    const name = writePlaceName({ number: String(order).padStart(16, '0'), secret: randomSecret() })
    this.#named.set(order, { name, entry })
    return name
  }

  /** Its client has gone: out of the line, but not forgotten. */
  putAside(entry: Entry): void {
    if (!isWaiting(entry)) return
    this.#keys.goes(entry, 'aside')
    this.#grantNext()
  }

  /** Nobody waits for it, but its turn does not pass it by. */
  keep(entry: Entry, claimMs: number): void {
    entry.claimMs = claimMs
    if (entry.state === 'running') entry.endsAtMs = Math.min(entry.endsAtMs, entry.owner.clock.now() + claimMs)
  }

  /** Gives a place to another ticket of the same key, with its number, wherever it is. */
  resume(name: string, place: Place, owner: Member, claims: boolean): void {
    const known = this.#named.get(Number(readPlaceName(name)?.number))
    const before = known?.entry
    if (before === undefined || known?.name !== name || before.place.key !== place.key || !mayBeTaken(before)) {
      place.onRefused('unknown')
      return
    }
    const { place: old, order, endsAtMs } = before
    const entry = entryOf(place, owner, order)
    known.entry = entry
    if (before.state === 'running') {
      this.#running.remove(before)
      this.#running.add(entry)
    }
    this.#keys.replaces(entry, before)
    old.slot = undefined
    place.slot = entry
    // Both are told before anybody can let it in.
    const granting = this.#granting
    this.#granting = true
    old.onTaken()
    place.onFound({ permits: old.permits, ageMs: old.ageMs })
    this.#granting = granting
    if (entry.state === 'running') this.#start(entry, claims ? undefined : endsAtMs)
    this.#grantNext()
    if (isWaiting(entry)) place.onQueued(this.position(place))
  }

  leave(instance: Member): void {
    this.instances.delete(instance)
    const aside = [...this.#named.values()].map(({ entry }) => entry).filter(({ state }) => state === 'aside')
    const all = [...this.#waiting, ...this.#keys.parked, ...this.#running, ...aside]
    const own = all.filter((entry) => entry.owner === instance)
    for (const entry of own) this.giveUp(entry)
  }

  position(place: Place): number | null {
    const entry = place.slot as Entry | undefined
    if (entry === undefined || !isWaiting(entry)) return null
    return this.#waiting.countBefore(entry.order) + this.#keys.parked.countBefore(entry.order) + 1
  }

  /** Only one loop grants at a time: a granted ticket that is released within its own callback must not deepen the stack. */
  #grantNext(): void {
    if (this.#granting) return
    this.#granting = true
    try {
      for (let head = this.#waiting.head; head !== undefined; head = this.#waiting.head) {
        if (this.#used + head.place.permits > this.#settings.values.concurrency) return
        this.#grant(head)
      }
    } finally {
      this.#granting = false
    }
  }

  #grant(entry: Entry): void {
    const { place } = entry
    place.slot = entry
    this.#keys.runs(entry)
    this.#running.add(entry)
    this.#used += place.permits
    this.#grants += 1
    this.#start(entry)
  }

  #start(entry: Entry, endsAtMs = entry.owner.clock.now() + (entry.claimMs ?? this.#settings.values.leaseMs)): void {
    entry.endsAtMs = endsAtMs
    entry.place.onGranted({ fence: this.#nextNumber(), endsAtMs })
  }

  #nextNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }
}

function entryOf(place: Place, owner: Member, order: number): Entry {
  return { order, place, owner, state: 'over', claimMs: null, endsAtMs: 0, previous: undefined, next: undefined }
}

function isWaiting({ state }: Entry): boolean {
  return state === 'line' || state === 'parked'
}

/** Whoever runs has had their turn, unless it is held for a claim. */
function mayBeTaken({ state, claimMs }: Entry): boolean {
  return state !== 'over' && (state !== 'running' || claimMs !== null)
}
