/**
 * What the parties of a storm write down. All tell the time by the wall clock of their one machine, read through the monotonic clock, so that
 * times of different processes can be compared with each other and with those of Redis.
 */
export type Entry = { readonly atMs: number; readonly by: string } & Happening

/** What a storm is run with. Durations in milliseconds. */
export interface StormTerms {
  readonly seed: number
  readonly topology: string
  readonly concurrency: number
  readonly livenessMs: number
  readonly storeTimeoutMs: number
  readonly leaseMs: number
  /** Longer than that nobody may wait, whatever it asks for. */
  readonly maxWaitMs: number
}

/** What is done to the system under test. */
export type FaultKind =
  /** SIGKILL; healed when another process has taken its place. */
  | 'kill'
  /** SIGTERM; healed when another process has taken its place. */
  | 'terminate'
  /** SIGSTOP to a server process, until SIGCONT. */
  | 'stop'
  /** Its connections to the store are closed, and no new ones are let through. */
  | 'cut'
  /** What is sent either way is held back, then delivered. */
  | 'blackHole'
  /** The same, but what was held back is lost with its connections. */
  | 'loseAll'
  /** It is heard, but hears nothing; what was held back is lost with its connections. */
  | 'loseReplies'
  /** What is sent either way arrives later. */
  | 'slow'
  /** SIGSTOP to the store, until SIGCONT. */
  | 'stopStore'
  /** The store is killed and comes back with nothing. */
  | 'emptyStore'
  /** The store is killed and comes back with what it had when it last wrote a snapshot. */
  | 'oldStore'
  | 'flushAll'
  | 'flushScripts'

/** One thing that happened, as its witness saw it. A `visit` is one request at one process, and its number is unique in that process. */
export type Happening =
  // The storm itself.
  | { readonly what: 'terms'; readonly terms: StormTerms }
  | {
      readonly what: 'fault'
      readonly fault: number
      readonly kind: FaultKind
      /** Names of server processes; empty: all are concerned. */
      readonly processes: readonly string[]
      /** Of `slow`: by how much. */
      readonly delayMs?: number
    }
  | { readonly what: 'healed'; readonly fault: number }
  | { readonly what: 'configure'; readonly concurrency: number; readonly how: 'asked' | 'done' | 'inDoubt' }
  | { readonly what: 'started'; readonly process: string }
  | {
      readonly what: 'exited'
      readonly process: string
      readonly code: number | null
      readonly signal: string | null
      readonly complaints: string
    }
  /** The store did not answer the storm's own direct question for a while, though nobody had told it not to. */
  | { readonly what: 'storeLag'; readonly fromMs: number }
  /** No client is there any more, nothing is broken; this is what was found then. */
  | { readonly what: 'calm' }
  | { readonly what: 'store'; readonly keys: Readonly<Record<string, StoreKey>> }
  | ({ readonly what: 'inspected'; readonly process: string; readonly when: 'fresh' | 'calm' } & Inspection)

  // What a store was seen doing (`line` is what entered it, or came back to it).
  | { readonly what: 'memoryGone' }
  | { readonly what: 'lined'; readonly tickets: readonly StoreTicket[] }
  | { readonly what: 'unlined'; readonly tickets: readonly StoreTicket[] }
  | { readonly what: 'granted'; readonly tickets: readonly StoreTicket[] }

  // A server process.
  | { readonly what: 'arrived'; readonly visit: number; readonly request: string; readonly resumes: boolean }
  | {
      readonly what: 'began'
      readonly visit: number
      /** Arrival number; null where the store has given none. */
      readonly number: string | null
      readonly fence: number
      readonly permits: number
      readonly counted: boolean
      /** The process was on its own. */
      readonly alone: boolean
    }
  | { readonly what: 'lost'; readonly visit: number; readonly cause: string }
  | { readonly what: 'ended'; readonly visit: number }
  | { readonly what: 'refused'; readonly visit: number; readonly code: string }
  | { readonly what: 'closed'; readonly visit: number; readonly sent: boolean }
  | { readonly what: 'ticket'; readonly ticket: number; readonly event: TicketEnd | 'granted' }
  | { readonly what: 'alone'; readonly share: number | null }
  | { readonly what: 'degraded'; readonly degraded: boolean; readonly cause: string }
  | { readonly what: 'lag'; readonly fromMs: number }
  | { readonly what: 'warned'; readonly code: string; readonly message: string }
  /** Something that must not happen. */
  | { readonly what: 'trouble'; readonly error: string }

  // A client.
  | { readonly what: 'asked'; readonly request: string; readonly kind: string; readonly process: string }
  | {
      readonly what: 'answered'
      readonly request: string
      readonly ending: ClientEnding
      /** Of a refusal. */
      readonly code?: string
      readonly detail?: string
      /** A position that was shown rose within one stream. */
      readonly rose?: string
    }

/** How a ticket ends, as the events of its queue call it. */
export type TicketEnd = 'released' | 'leaseLost' | 'rejected' | 'timedOut' | 'cancelled' | 'failed'

/**
 * How a request ended for its client: `served` (the handler's whole answer), `interrupted` (the handler ended its answer early, and said so),
 * `refused`, `placeLost` (it came back for its place, and the place was gone), `left` (by itself), `cut` (the connection broke), `unreachable` (no
 * connection), `unanswered` (nothing for far too long), `odd` (none of these).
 */
export type ClientEnding =
  | 'served'
  | 'interrupted'
  | 'refused'
  | 'placeLost'
  | 'left'
  | 'cut'
  | 'unreachable'
  | 'unanswered'
  | 'odd'

/** A ticket as the store has it. */
export interface StoreTicket {
  readonly number: string
  readonly permits: number
}

/** A key of the store, at the end. */
export interface StoreKey {
  readonly type: string
  /** Members or fields. */
  readonly size: number
  /** −1: none. */
  readonly expiresInMs: number
}

/** What a server process says of itself. */
export interface Inspection {
  readonly running: number | null
  readonly waiting: number | null
  readonly localRunning: number
  readonly localWaiting: number
  readonly localLimit: number | null
  readonly degraded: boolean
  readonly wakeChannel: string
  /** After a collection of garbage. */
  readonly heapBytes: number
  /** Of its HTTP server, but for the one that asks. */
  readonly connections: number
  /** By emitter and event. */
  readonly listeners: Readonly<Record<string, number>>
  /** What keeps a process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>
}
