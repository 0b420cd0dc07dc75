/** Somebody's turn. Both numbers are the store's: they rise with arrivals and with grants. */
export interface Turn {
  readonly arrival: number
  readonly grant: number
  readonly leave: () => void
}

/** A line that several processes share. */
export interface Line {
  /** Calls back when the turn has come, without a tick between. */
  enter(onTurn: (turn: Turn) => void): void
  /** Resolves when the store has all who entered. */
  entered(): Promise<unknown>
  close(): Promise<void>
}

/** `floor` is the least that is still a fair shared line; see `FloorLine`. */
export type Contender = 'fairqueue' | 'floor'
