import type { Clock } from '../base/clock.js'
import type { FairQueueError, LeaseLostError } from '../base/errors.js'
import type { Instance } from '../store/contract.js'
import type { Lease } from './lease.js'
import type { OnStoreError } from './options.js'

/** What a ticket needs of the queue that it stands in. */
export interface TicketHost<Ticket> {
  readonly clock: Clock
  readonly instance: Instance
  /** The queue's name, fit for a message. */
  readonly quotedName: string
  readonly onStoreError: OnStoreError
  etaMs(position: number | null): number | null
  /** Somebody wants to see this ticket's position. */
  watch(ticket: Ticket): void
  /** Told once per ticket, in whatever way its wait ended. */
  waitEnded(ticket: Ticket, outcome: Lease | FairQueueError): void
  released(ticket: Ticket, lease: Lease): void
  leaseLost(ticket: Ticket, lease: Lease, error: LeaseLostError): void
  /** Calls somebody else's function; what it throws goes to the queue's `error` event, never into the queue. */
  guarded<Payload>(listener: (payload: Payload) => void, payload: Payload): void
}
