/**
 * The life of a ticket. It starts `waiting` and ends exactly once, in one of the states after which no move is legal:
 *
 * - `waiting → granted → released | lost`
 * - `waiting → timedOut | cancelled | failed` (failed: the store could not decide)
 * - `waiting → rejected` at the door: the line was full, the queue was closing, the permits can never be had, the place to be taken up again
 *   was not found
 * - `waiting → reserved` where nobody waits for a place that is kept: its turn has come, it holds its permits until somebody claims it
 *   (`moved`) or nobody does (`timedOut`)
 * - `waiting | reserved → moved`: another ticket, perhaps in another process, has taken the place up, and it goes on there
 */
export type TicketState =
  | 'waiting'
  | 'reserved'
  | 'granted'
  | 'released'
  | 'lost'
  | 'timedOut'
  | 'cancelled'
  | 'failed'
  | 'rejected'
  | 'moved'

/** The table of legal moves; everything that changes a ticket's state goes by it. */
export const legalMoves: Readonly<Record<TicketState, readonly TicketState[]>> = {
  waiting: ['granted', 'reserved', 'timedOut', 'cancelled', 'failed', 'rejected', 'moved'],
  reserved: ['timedOut', 'cancelled', 'failed', 'moved'],
  granted: ['released', 'lost'],
  released: [],
  lost: [],
  timedOut: [],
  cancelled: [],
  failed: [],
  rejected: [],
  moved: [],
}

/** Whether a ticket may go from one state to another. */
export function mayMove(from: TicketState, to: TicketState): boolean {
  return legalMoves[from].includes(to)
}
