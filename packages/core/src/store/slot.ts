import { encodeKey } from '../base/encoding.js'
import { randomSecret } from '../base/randomId.js'
import type { Place } from './contract.js'
import type { PlaceName } from './placeName.js'

/**
 * Where a place is, as its instance knows it: `unsent` (in the outbox), `sent` (in an exchange that is not answered), `held` (the store is
 * in a grace and gave no number), `waiting` (in the line, with a number), `aside` (out of the line, its client may come back), `running`,
 * `gone`.
 */
export type SlotState = 'unsent' | 'sent' | 'held' | 'waiting' | 'aside' | 'running' | 'gone'

/** What a ticket takes up again, and whether to use it or to look. */
export interface Resumption {
  readonly name: PlaceName
  readonly claims: boolean
}

/** An instance's notes on one place. */
export class Slot {
  readonly place: Place
  /** Where its instance keeps it. */
  readonly index: number
  /** What it takes up again; null for a newcomer. */
  readonly resumes: Resumption | null
  /** The ticket as the store calls it: index.secret[.how often it was moved], unique in its instance (R1). */
  ticket: string
  /** Behind number and instance it is the rest of the member text: ticket:permits:key. */
  #rest: string
  state: SlotState = 'unsent'
  /** Arrival number, 16 digits; empty until the store has given one. */
  number: string = ''
  /** The queue gave it up while its acquire was under way: whatever comes back is given back (R7). */
  unwanted: boolean = false
  /** Its client went while the store was asked for it: it is put aside when it has been found. */
  leaves: boolean = false
  /** For how long it is held once its turn has come, until somebody claims it; null: it is not kept for anybody. */
  claimMs: number | null = null
  /** It runs by its instance's own leave, and the store has not been told yet (R25). */
  runsAlone: boolean = false
  /** When it asked, for the deadline of its answer: that a grace holds it is an answer, after it it asks anew. Monotonic ms. */
  askedAtMs: number
  /** When this instance learned of the grant, for R11. Monotonic ms. */
  grantedAtMs: number = 0
  /** When its lease ends at the latest (R13). Monotonic ms. */
  endsAtMs: number = Infinity

  constructor(place: Place, index: number, nowMs: number, resumes: Resumption | null = null) {
    this.place = place
    this.index = index
    this.resumes = resumes
    this.ticket = `${index.toString(36)}.${resumes === null ? randomSecret() : resumes.name.secret}`
    this.#rest = `${this.ticket}:${place.permits}:${encodeKey(place.key)}`
    this.askedAtMs = nowMs
  }

  /** What the store is sent to ask for it. */
  get operation(): string {
    const { resumes } = this
    if (resumes === null) return this.#rest
    return `${resumes.claims ? '+' : '?'}${resumes.name.number}:${this.ticket}:${encodeKey(this.place.key)}`
  }

  /** The ticket's member text in the store: number:instance:ticket:permits:key. */
  member(instance: string): string {
    return `${this.number}:${instance}:${this.#rest}`
  }

  /** What the place is called outside; null while it has no number. */
  get name(): PlaceName | null {
    return this.number === '' ? null : { number: this.number, secret: this.ticket.split('.')[1]! }
  }

  /** Whether a ticket that the store speaks of is this one. One that is being taken up again does not know how often it was moved. */
  isCalled(ticket: string): boolean {
    return (
      ticket === this.ticket || (this.resumes !== null && this.number === '' && ticket.startsWith(`${this.ticket}.`))
    )
  }

  /** Takes over what the store says of a place that it takes up again. */
  adopt({ number, ticket, rest }: MemberName): void {
    this.number = number
    this.ticket = ticket
    this.#rest = rest
  }
}

/** What a member text says to its own instance. */
export interface MemberName {
  readonly number: string
  readonly ticket: string
  readonly permits: number
  /** ticket:permits:key */
  readonly rest: string
}

/** Reads a member text; undefined for garbage. */
export function readMember(member: string): MemberName | undefined {
  const [number, instance, ticket, permits, key] = member.split(':')
  if (
    number?.length !== 16 ||
    instance === undefined ||
    ticket === undefined ||
    permits === undefined ||
    key === undefined
  )
    return undefined
  return { number, ticket, permits: Number(permits), rest: `${ticket}:${permits}:${key}` }
}
