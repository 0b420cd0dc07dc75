import { isFairQueueError } from '../base/errors.js'
import type { Lease } from '../queue/lease.js'
import type { Outcome } from '../queue/ticket.js'

/** Whether a wait ended with the right to run. Not by the class: queue and gate may come from two loaded copies of this package. */
export function isGranted(outcome: Outcome): outcome is Lease {
  return !isFairQueueError(outcome)
}
