/**
 * The life of a ticket. It starts `waiting` and ends exactly once, in one of the states after which no move is legal:
 *
 * - `waiting → granted → released | lost`
 * - `waiting → timedOut | cancelled | failed` (failed: the store could not decide)
 * - `waiting → rejected` at the door: the line was full, the queue was closing, the permits can never be had
 */
export type TicketState = 'waiting' | 'granted' | 'released' | 'lost' | 'timedOut' | 'cancelled' | 'failed' | 'rejected'

/** The table of legal moves; everything that changes a ticket's state goes by it. */
export const legalMoves: Readonly<Record<TicketState, readonly TicketState[]>> = {
  waiting: ['granted', 'timedOut', 'cancelled', 'failed', 'rejected'],
  granted: ['released', 'lost'],
  released: [],
  lost: [],
  timedOut: [],
  cancelled: [],
  failed: [],
  rejected: [],
}

/** Whether a ticket may go from one state to another. */
export function mayMove(from: TicketState, to: TicketState): boolean {
  return legalMoves[from].includes(to)
}
