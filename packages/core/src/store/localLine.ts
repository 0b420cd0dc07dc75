import type { Ledger } from './ledger.js'
import type { Settings } from './settings.js'
import type { Slot } from './slot.js'

/** What an instance goes by while it is alone. */
export interface LocalTerms {
  /** Permits that it may have running: its share of the limit. */
  readonly limit: number
  readonly settings: Settings
}

/**
 * An instance's share of the limit while the store does not answer: of the limit divided by the instances last seen, rounded down, but at least
 * 1 (R25). Whoever has seen nobody, not even itself, has never reached the store, and cannot know how many there are: 1.
 */
export function localLimit(concurrency: number, instances: number): number {
  if (concurrency === 0) return 0
  return instances === 0 ? 1 : Math.max(1, Math.floor(concurrency / instances))
}

/**
 * The line of one instance while the store does not answer (R25): in the order of arrival, those first who have a number. What runs already
 * counts against its share. Nobody is told a position, since nobody knows it.
 */
export class LocalLine {
  readonly #ledger: Ledger
  readonly #terms: () => LocalTerms
  #line: Slot[] = []

  constructor(ledger: Ledger, terms: () => LocalTerms) {
    this.#ledger = ledger
    this.#terms = terms
  }

  /** Takes over all that wait. */
  open(): void {
    const slots = this.#ledger.all().toSorted(byArrival)
    this.#line = slots.filter(waits)
    this.letIn()
    for (const slot of slots) if (isUndecided(slot)) this.#seat(slot)
  }

  /** A newcomer, or one that takes up a place, which only the store can find: it waits for that. */
  enter(slot: Slot): void {
    if (waits(slot)) {
      this.#line.push(slot)
      this.letIn()
    }
    if (isUndecided(slot)) this.#seat(slot)
  }

  /** Lets in whom the share allows. */
  letIn(): void {
    // (Whoever is let in may come back to this at once.)
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#ledger.letIn(next)
  }

  /** A place is found, or there is none. */
  #seat(slot: Slot): void {
    const { maxQueueSize, perKey } = this.#terms().settings
    const { key } = slot.place
    const waiting = this.#line.filter(waits)
    const ahead = waiting.slice(0, Math.max(0, waiting.indexOf(slot)))
    if (ahead.length >= maxQueueSize) this.#ledger.turnAway(slot, 'full')
    else if (key !== null && ahead.filter(({ place }) => place.key === key).length >= perKey.maxQueueSize)
      this.#ledger.turnAway(slot, 'keyFull')
    else slot.place.onQueued(null)
  }

  /** The first that may run now. Whoever needs more than the share is passed over and waits for the store; so is one whose key is at its cap. */
  #next(): Slot | undefined {
    const { limit, settings } = this.#terms()
    this.#line = this.#line.filter(waits)
    if (this.#line.length === 0) return undefined
    let free = limit
    const runningOfKey = new Map<string | null, number>()
    for (const { state, place } of this.#ledger.all()) {
      if (state !== 'running') continue
      free -= place.permits
      runningOfKey.set(place.key, (runningOfKey.get(place.key) ?? 0) + 1)
    }
    for (const slot of this.#line) {
      const { permits, key } = slot.place
      if (permits > limit) continue
      if (key !== null && (runningOfKey.get(key) ?? 0) >= settings.perKey.concurrency) continue
      return permits <= free ? slot : undefined
    }
    return undefined
  }
}

/** Whether somebody is there who waits for its turn. */
function waits(slot: Slot): boolean {
  const { state, unwanted, leaves, claimMs, resumes } = slot
  if (unwanted || leaves || claimMs !== null) return false
  return state === 'waiting' || ((state === 'unsent' || state === 'sent' || state === 'held') && resumes === null)
}

/** The store has been asked for it, or is to be, and its caller has been told nothing yet. */
function isUndecided({ state, unwanted }: Slot): boolean {
  return !unwanted && (state === 'unsent' || state === 'sent')
}

/** The numbered ones come first, in the order of their numbers. */
function byArrival(one: Slot, other: Slot): number {
  if (one.number !== '' && other.number !== '') return one.number < other.number ? -1 : 1
  if (one.number !== other.number) return one.number === '' ? 1 : -1
  return one.askedAtMs - other.askedAtMs
}
