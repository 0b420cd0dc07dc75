import { NO_KEY_CAPS, sameKeyCaps, type KeyCaps } from '../store/keyCaps.js'
import { Line } from './line.js'

/**
 * Where a ticket is. `parked`: out of the line because its key is at its cap; `aside`: because its client has gone; `over`: it has no place,
 * or none yet.
 */
export type Whereabouts = 'line' | 'parked' | 'running' | 'aside' | 'over'

/** What the groups need to know of a ticket. `order` is its arrival number. */
export interface Keyed {
  readonly order: number
  readonly place: { readonly key: string | null }
  state: Whereabouts
}

/** The tickets of one key. Those in the line and those that run are never more than the cap, unless more ran when it was lowered. */
interface Group<Entry extends Keyed> {
  running: number
  readonly line: Line<Entry>
  readonly parked: Line<Entry>
}

/**
 * Who stands in the line, and who is parked because its key is at its cap (R22). Without caps it keeps nothing of keys, and nothing of a key
 * that has no tickets.
 */
export class KeyGroups<Entry extends Keyed> {
  readonly #line: Line<Entry>
  readonly #groups = new Map<string, Group<Entry>>()
  #caps: KeyCaps = NO_KEY_CAPS
  /** All that are parked. */
  readonly parked: Line<Entry> = new Line<Entry>()

  /** `line` is where those wait who are not parked. */
  constructor(line: Line<Entry>) {
    this.#line = line
  }

  /** Whether a newcomer has to be parked: it never passes another of its key. */
  parks(key: string | null): boolean {
    if (key === null || this.#caps.concurrency === Infinity) return false
    const group = this.#groups.get(key)
    return group === undefined ? this.#caps.concurrency === 0 : group.parked.size > 0 || this.#isFull(group)
  }

  /** Whether as many of a key wait as may. */
  isFull(key: string | null): boolean {
    if (key === null || this.#caps.maxQueueSize === Infinity) return false
    const group = this.#groups.get(key)
    return (group === undefined ? 0 : group.line.size + group.parked.size) >= this.#caps.maxQueueSize
  }

  /** A newcomer waits. */
  waits(entry: Entry): void {
    this.#move(entry, this.parks(entry.place.key) ? 'parked' : 'line')
  }

  /** It waits again, with an old number: of its key the first ones stand in the line, so a younger one may have to leave it. */
  returns(entry: Entry): void {
    this.waits(entry)
    const youngest = entry.state === 'parked' ? this.#groupOf(entry)?.line.last : undefined
    if (youngest === undefined || youngest.order < entry.order) return
    this.#move(youngest, 'parked')
    this.#move(entry, 'line')
  }

  /** It runs. */
  runs(entry: Entry): void {
    this.#move(entry, 'running')
  }

  /** It goes, and the first of its key that is parked enters the line with its old number. */
  goes(entry: Entry, to: 'aside' | 'over'): void {
    this.#move(entry, to)
    const group = this.#groupOf(entry)
    if (group === undefined) return
    const next = group.parked.head
    if (next !== undefined && !this.#isFull(group)) this.#move(next, 'line')
    if (group.line.size + group.running + group.parked.size === 0) this.#groups.delete(entry.place.key!)
  }

  /** One takes the place of another of the same key and number. */
  replaces(entry: Entry, before: Entry): void {
    const { state } = before
    this.#move(before, 'over')
    if (state === 'aside') this.returns(entry)
    else this.#move(entry, state)
  }

  /** Other caps: who is parked is found anew, in the order of arrival. */
  change(caps: KeyCaps, running: Iterable<Entry>): void {
    if (sameKeyCaps(caps, this.#caps)) return
    const waiting = [...this.#line, ...this.parked].toSorted((one, other) => one.order - other.order)
    for (const line of [this.#line, this.parked]) line.clear()
    this.#groups.clear()
    this.#caps = caps
    for (const entry of [...running, ...waiting]) {
      const { state } = entry
      entry.state = 'over'
      if (state === 'running') this.runs(entry)
      else this.waits(entry)
    }
  }

  #move(entry: Entry, to: Whereabouts): void {
    const group = this.#groupOf(entry)
    const { state } = entry
    entry.state = to
    if (state === 'line' || state === 'parked') {
      this.#lineOf(state).remove(entry)
      group?.[state].remove(entry)
    }
    if (to === 'line' || to === 'parked') {
      this.#lineOf(to).insert(entry)
      group?.[to].insert(entry)
    }
    if (group === undefined) return
    if (state === 'running') group.running -= 1
    if (to === 'running') group.running += 1
  }

  #lineOf(state: 'line' | 'parked'): Line<Entry> {
    return state === 'line' ? this.#line : this.parked
  }

  #isFull({ line, running }: Group<Entry>): boolean {
    return line.size + running >= this.#caps.concurrency
  }

  /** The group of a ticket's key; undefined where nothing needs to be kept. */
  #groupOf({ place: { key } }: Entry): Group<Entry> | undefined {
    if (key === null || (this.#caps.concurrency === Infinity && this.#caps.maxQueueSize === Infinity)) return undefined
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = { running: 0, line: new Line(), parked: new Line() }
      this.#groups.set(key, group)
    }
    return group
  }
}
