import { encodeKey } from '../base/encoding.js'
import type { Place } from './contract.js'

/**
 * Where a place is, as its instance knows it: `unsent` (in the outbox), `sent` (in an exchange that is not answered), `held` (the store is
 * in a grace and gave no number), `waiting` (in the line, with a number), `running`, `gone`.
 */
export type SlotState = 'unsent' | 'sent' | 'held' | 'waiting' | 'running' | 'gone'

/** An instance's notes on one place. */
export class Slot {
  readonly place: Place
  /** Where its instance keeps it. */
  readonly index: number
  /** The ticket as the store calls it: unique in its instance (R1). */
  readonly ticket: string
  /** What an acquire sends; behind number and instance it is the rest of the member text. */
  readonly operation: string
  state: SlotState = 'unsent'
  /** Arrival number, 16 digits; empty until the store has given one. */
  number: string = ''
  /** The queue gave it up while its acquire was under way: whatever comes back is given back (R7). */
  unwanted: boolean = false
  /** When it asked, for the deadline of its answer: that a grace holds it is an answer, after it it asks anew. Monotonic ms. */
  askedAtMs: number
  /** When this instance learned of the grant, for R11. Monotonic ms. */
  grantedAtMs: number = 0
  /** When its lease ends at the latest (R13). Monotonic ms. */
  endsAtMs: number = Infinity

  constructor(place: Place, index: number, ticket: string, nowMs: number) {
    this.place = place
    this.index = index
    this.ticket = ticket
    this.operation = `${ticket}:${place.permits}:${encodeKey(place.key)}`
    this.askedAtMs = nowMs
  }

  /** The ticket's member text in the store: number:instance:ticket:permits:key. */
  member(instance: string): string {
    return `${this.number}:${instance}:${this.operation}`
  }
}

/** What a member text says to its own instance. */
export interface MemberName {
  readonly number: string
  readonly ticket: string
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
  return { number, ticket }
}
