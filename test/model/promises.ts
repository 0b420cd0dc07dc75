import type { FairQueue, FairQueueError, Lease, Ticket } from '@fairqueue/core'

/** A promise was broken. */
export class Broken extends Error {}

const endings = ['released', 'leaseLost', 'rejected', 'timedOut', 'cancelled', 'failed'] as const

/** How a ticket ended. */
export type Ending = (typeof endings)[number]

/** A ticket as whoever asked for it sees it. `Owner` is the process that it belongs to. */
export class ModelTicket<Owner> {
  readonly name: string
  /** Its key in the queue; its own name where it shares none. */
  readonly key: string
  /** The process that it belongs to. */
  owner: Owner
  /** The process whose place it is in the store: until it has gone over, the one before. */
  holder: Owner
  readonly permits: number
  readonly maxWaitMs: number | undefined
  ticket!: Ticket
  lease: Lease | undefined
  ending: Ending | undefined

  /** Its process let it in by itself (R25). */
  letInAlone = false
  /** And the store has not been told yet. */
  untold = false
  /** Its client has gone, and has not come back. */
  absent = false
  /** How often its place went over in the store. */
  moves = 0
  /** Those that had its place before. */
  readonly earlier: Set<Ticket> = new Set<Ticket>()

  /** What its store calls it. */
  slotName: string | undefined

  constructor(name: string, owner: Owner, permits: number, maxWaitMs: number | undefined, key = name) {
    this.name = name
    this.key = key
    this.owner = owner
    this.holder = owner
    this.permits = permits
    this.maxWaitMs = maxWaitMs
  }

  /** Its client has come back, and the store has not been told, or never will. */
  get isComing(): boolean {
    return this.moves < this.earlier.size
  }

  /** It has been neither let in nor ended, as far as anybody has been told. */
  get waits(): boolean {
    return this.lease === undefined && this.ending === undefined
  }

  get runs(): boolean {
    return this.lease !== undefined && this.ending === undefined
  }

  /** It runs and occupies its permits; what was let in while the queue was switched off does not. */
  get holds(): boolean {
    return this.runs && this.lease!.counted
  }
}

/**
 * What everybody can see from outside: who asked, who was let in, who ended and how. It checks what can be checked from there alone:
 * a handler runs at most once and only before its ending, and every ticket has exactly one ending.
 */
export class Promises<Owner> {
  readonly tickets: ModelTicket<Owner>[] = []
  readonly #onGranted: (ticket: ModelTicket<Owner>) => void
  readonly #onEnded: (ticket: ModelTicket<Owner>, error: FairQueueError | undefined) => void

  constructor(
    onGranted: (ticket: ModelTicket<Owner>) => void = () => undefined,
    onEnded: (ticket: ModelTicket<Owner>, error: FairQueueError | undefined) => void = () => undefined,
  ) {
    this.#onGranted = onGranted
    this.#onEnded = onEnded
  }

  /** Listens to one instance. */
  watch(queue: FairQueue): void {
    queue.on('granted', (event) => {
      const ticket = this.#of(event.ticket)
      if (ticket.earlier.has(event.ticket)) throw this.broken(`${ticket.name} was granted where it had been left`)
      if (ticket.ending !== undefined)
        throw this.broken(`${ticket.name} was granted after it had ended (${ticket.ending})`)
      if (ticket.lease !== undefined) throw this.broken(`${ticket.name} was granted twice`)
      ticket.lease = event.ticket.outcome as Lease
      if (!ticket.lease.counted && queue.settings.enabled)
        throw this.broken(`${ticket.name} runs without being counted`)
      this.#onGranted(ticket)
    })
    for (const ending of endings) {
      queue.on(ending, (event) => {
        const ticket = this.#of(event.ticket)
        // Nobody has told it yet that it goes on elsewhere.
        if (ticket.earlier.has(event.ticket)) return
        if (ticket.ending !== undefined)
          throw this.broken(`${ticket.name} ended twice: ${ticket.ending}, then ${ending}`)
        ticket.ending = ending
        this.#onEnded(ticket, 'error' in event ? event.error : undefined)
      })
    }
    queue.on('error', (error) => {
      this.fault ??=
        error instanceof Broken
          ? error
          : new Broken(`the queue met an error of its own: ${String(error)}`, { cause: error })
    })
  }

  readonly #entering: ModelTicket<Owner>[] = []
  /** The first thing that went wrong inside a callback, where an exception reaches nobody. */
  fault: Broken | undefined

  enter(queue: FairQueue, ticket: ModelTicket<Owner>): void {
    this.tickets.push(ticket)
    const { key, permits, maxWaitMs } = ticket
    this.#entering.push(ticket)
    ticket.ticket = queue.enter({ key, permits, maxWaitMs })
    this.#entering.pop()
    ticket.slotName = (ticket.ticket.slot as { readonly ticket?: string } | undefined)?.ticket
  }

  /** Its client comes back, here or elsewhere. */
  resume(queue: FairQueue, owner: Owner, ticket: ModelTicket<Owner>): void {
    const { id } = ticket.ticket
    ticket.earlier.add(ticket.ticket)
    ticket.owner = owner
    ticket.absent = false
    this.#entering.push(ticket)
    ticket.ticket = queue.resume(id!, { key: ticket.key })
    this.#entering.pop()
  }

  /** Throws what went wrong in a callback. */
  check(): void {
    if (this.fault !== undefined) throw this.fault
  }

  get running(): ModelTicket<Owner>[] {
    return this.tickets.filter((ticket) => ticket.runs)
  }

  get holders(): ModelTicket<Owner>[] {
    return this.tickets.filter((ticket) => ticket.holds)
  }

  get waiting(): ModelTicket<Owner>[] {
    return this.tickets.filter((ticket) => ticket.waits)
  }

  find(name: string): ModelTicket<Owner> | undefined {
    return this.tickets.find((ticket) => ticket.name === name)
  }

  /** Events of a ticket may come before whoever enters it has it in hand. */
  #of(ticket: Ticket): ModelTicket<Owner> {
    const known =
      this.tickets.find((other) => other.ticket === ticket || other.earlier.has(ticket)) ?? this.#entering.at(-1)
    if (known === undefined) throw this.broken(`an event of a ticket that nobody entered: ${ticket.id}`)
    return known
  }

  /** Notes what is wrong, for the next `check`: thrown inside a callback it would reach nobody. */
  broken(message: string): Broken {
    const broken = new Broken(message)
    this.fault ??= broken
    return broken
  }
}
