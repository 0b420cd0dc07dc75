import type { FairQueue, FairQueueOptions, Ticket, TicketState } from '../../index.js'

/** Options of an instance in a world: store, clock and name are the world's, unless a name is given. */
export type WorldQueueOptions = Omit<FairQueueOptions, 'store' | 'clock'>

/** One store under test, whose time moves by hand. Made anew for each test. */
export interface StoreWorld {
  /** A new instance of the queue `q`, in a process of its own where the store serves many. */
  queue(options: WorldQueueOptions): Promise<FairQueue>
  /** Time goes on; all timers on the way fire and all that they set going is done. */
  advance(ms: number): Promise<void>
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

export type MakeWorld = () => StoreWorld

/** Several instances of one queue with the same options. */
export async function queues(world: StoreWorld, count: number, options: WorldQueueOptions): Promise<FairQueue[]> {
  const all: FairQueue[] = []
  for (let index = 0; index < count; index += 1) all.push(await world.queue(options))
  return all
}

/** The states of tickets, in their order. */
export function statesOf(tickets: readonly Ticket[]): TicketState[] {
  return tickets.map(({ state }) => state)
}

/** How many tickets hold a lease. */
export function grantedOf(tickets: readonly Ticket[]): number {
  return tickets.filter(({ state }) => state === 'granted').length
}

/** Ends the lease of a granted ticket. */
export async function release(ticket: Ticket): Promise<void> {
  const lease = await ticket.granted
  await lease.release()
}

/** One ticket after the other, so that the store sees them in this order. */
export async function enterInOrder(world: StoreWorld, ...queuesInOrder: FairQueue[]): Promise<Ticket[]> {
  const tickets: Ticket[] = []
  for (const queue of queuesInOrder) {
    tickets.push(queue.enter())
    await world.settled()
  }
  return tickets
}
