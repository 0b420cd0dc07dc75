import type { Clock, Timer } from '../base/clock.js'
import type { StoreStatus } from '../store/contract.js'
import type { Ticket } from './ticket.js'

/** The first tickets are ranked exactly, the rest by a sample of so many, so that a look costs the same for 50 waiters and for 50,000. */
const EXACT = 32
const SAMPLED = 32

/** Keeps the positions of waiting tickets fresh, as long as somebody looks at one. */
export class PositionWatch {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #waiting: Iterable<Ticket>
  readonly #look: (sample: readonly Ticket[]) => Promise<StoreStatus>
  readonly #watched = new Set<Ticket>()
  #timer: Timer | undefined

  /** `waiting` holds this instance's waiting tickets in the order in which they entered; `look` asks the store and never rejects for long. */
  constructor(
    clock: Clock,
    intervalMs: number,
    waiting: Iterable<Ticket>,
    look: (sample: readonly Ticket[]) => Promise<StoreStatus>,
  ) {
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.#waiting = waiting
    this.#look = look
  }

  watch(ticket: Ticket): void {
    this.#watched.add(ticket)
    if (this.#timer === undefined) this.#arm()
  }

  unwatch(ticket: Ticket): void {
    if (this.#watched.delete(ticket) && this.#watched.size === 0) this.stop()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(() => void this.#refresh(), this.#intervalMs, 'background')
  }

  async #refresh(): Promise<void> {
    const timer = this.#timer
    const tickets = [...this.#waiting]
    const indices = sampleIndices(tickets.length)
    try {
      const { positions } = await this.#look(indices.map((index) => tickets[index]!))
      showPositions(tickets, indices, positions)
    } catch {
      // The store is away: that is told elsewhere, and old positions are better than none.
    }
    // Whoever began to watch while this look was under way has set a timer already.
    if (timer !== undefined && timer === this.#timer) this.#arm()
  }
}

/** Which of `count` tickets to rank: the first ones, then evenly spread up to the last. */
export function sampleIndices(count: number): number[] {
  const exact = Math.min(count, EXACT)
  const indices = Array.from({ length: exact }, (_, index) => index)
  const rest = count - exact
  const steps = Math.min(rest, SAMPLED)
  for (let step = 1; step <= steps; step += 1) indices.push(exact - 1 + Math.round((rest * step) / steps))
  return indices
}

/** Gives every ticket its position: the ranked ones exactly, those between two ranked ones on the straight line between them. */
function showPositions(
  tickets: readonly Ticket[],
  indices: readonly number[],
  positions: readonly (number | null)[],
): void {
  let from = -1
  let fromPosition = 0
  for (const [i, index] of indices.entries()) {
    const position = positions[i] ?? null
    if (position === null) continue
    for (let between = from + 1; between < index; between += 1) {
      const share = (between - from) / (index - from)
      tickets[between]!.showPosition(Math.max(1, Math.round(fromPosition + share * (position - fromPosition))))
    }
    tickets[index]!.showPosition(position)
    from = index
    fromPosition = position
  }
}
