import type { FairQueueError, LeaseLostError } from '../base/errors.js'
import type { Settings, SettingsRecord } from '../store/settings.js'
import type { Ticket } from './ticket.js'

/** A ticket in an event; the times in milliseconds. */
export interface TicketEvent {
  readonly ticket: Ticket
  readonly key: string | null
  readonly permits: number
  readonly waitedMs: number
}

/** The events of a queue and what they carry. Listeners may throw: that reaches the `error` event and nobody else. */
export interface QueueEvents {
  granted: TicketEvent
  released: TicketEvent & { readonly heldMs: number }
  /** Refused at the door: line full, closing, more permits than there are. */
  rejected: TicketEvent & { readonly error: FairQueueError }
  timedOut: TicketEvent & { readonly error: FairQueueError }
  cancelled: TicketEvent & { readonly error: FairQueueError }
  /** The store could not decide, or the limit fell below what the ticket needs. */
  failed: TicketEvent & { readonly error: FairQueueError }
  leaseLost: TicketEvent & { readonly error: LeaseLostError; readonly heldMs: number }
  /** Instances of this queue declare different settings in code. Told once. */
  configConflict: { readonly declared: Settings; readonly inForce: Settings }
  /** The settings in force have changed. */
  settingsChanged: SettingsRecord
  /** The store stopped or began to answer. */
  degraded: { readonly degraded: boolean; readonly cause: unknown }
  /** This instance goes on by itself, with so many permits at a time, since the store does not answer; null: the store decides again. */
  local: { readonly limit: number | null }
  /** Hints stopped or began to arrive; without them the line works by polling alone. */
  wakeChannel: { readonly open: boolean; readonly cause: unknown }
  /** Something went wrong that was not anybody's request, e.g. a listener that threw, or garbage in the shared settings. */
  error: unknown
}
