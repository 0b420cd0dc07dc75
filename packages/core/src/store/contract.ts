import type { Clock } from '../base/clock.js'
import type { LeaseLostCause } from '../base/errors.js'
import type { Settings, SettingsChange, SettingsRecord } from './settings.js'

/**
 * Where queues keep their lines. `MemoryStore` serves one process, `RedisStore` many; anything that passes the store suite can take
 * their place.
 */
export interface Store {
  /** What log lines and `status()` call it, e.g. `memory`. */
  readonly kind: string
  /** The time that queues on this store go by unless they are given another; for tests. Default: the process' own. */
  readonly clock?: Clock
  /**
   * Makes the caller one instance of the queue `name`. Never throws because of the store's health: trouble is told through `listener`.
   */
  join(options: JoinOptions): Instance
  /** Ends what the store opened for itself (never what the user handed in). Idempotent. */
  close(): Promise<void>
}

/** What an instance brings when it joins a queue. Durations in milliseconds. */
export interface JoinOptions {
  /** The queue's name as the user wrote it, any string. */
  readonly name: string
  /** The settings in this instance's code; the operator's, where they exist, win (R23). */
  readonly declared: Settings
  /** A process that was silent for so long loses its tickets. */
  readonly livenessMs: number
  /** How often a waiting instance asks although no hint came (jittered). */
  readonly pollIntervalMs: number
  /** How long a Redis must have been up before a queue that it does not know opens at once (R17). */
  readonly bootGraceMs: number
  /** How long a place may go without an answer before it is refused as `unavailable`. */
  readonly storeTimeoutMs: number
  /**
   * Whether the instance goes on by itself, at its share of the limit, while the store does not answer (R25). A store that cannot, or that always
   * answers, has no use for it.
   */
  readonly goesOnAlone: boolean
  readonly clock: Clock
  readonly listener: InstanceListener
}

/** What a store tells the instance besides the fate of its places. Never throws. */
export interface InstanceListener {
  /** The settings in force, at the start and after every change. */
  settingsChanged(record: SettingsRecord): void
  /** Another instance of this name declares other settings (told once per difference). */
  configConflict(declared: Settings, inForce: Settings): void
  /** Whether the store answers; called on changes only. `cause` is what went wrong. */
  healthChanged(healthy: boolean, cause: unknown): void
  /** The instance lets in by itself, so many permits at a time, since the store does not answer; null: the store decides again. */
  aloneChanged(limit: number | null): void
  /** Whether hints arrive; without them the line works by polling alone. Called on changes only. */
  wakeChannelChanged(open: boolean, cause: unknown): void
  /** Something went wrong that needs nobody's decision, e.g. garbage in the shared settings. */
  troubled(error: unknown): void
}

/** One instance's end of a queue. All methods may be called at any time before `leave`; none throws because of the store. */
export interface Instance {
  /** Random, never derived from host or process: a restarted process is another instance (R1). */
  readonly id: string
  /** Asks for a place; the answer comes through the place's own methods, perhaps before this call returns. */
  enter(place: Place): void
  /**
   * Gives a place up, wherever it is: unsent, in the line or running. Idempotent. A grant that crosses it is given back.
   * @returns resolves when the store has applied it, at the latest after `storeTimeoutMs` (it is then repeated until it is); never rejects
   */
  giveUp(place: Place): Promise<void>
  /**
   * Takes up again, as `place`, the one that is called so, wherever it is and whoever had it (R24); its key must be the same. The answer comes
   * through the place's methods: `onFound`, then as after `enter`; or it is refused as `unknown`. `claims` false: only to look, so a place that
   * is held for a claim stays so.
   */
  resume(name: string, place: Place, claims: boolean): void
  /** How the place is called if it is to be taken up again; null while the store has given it no number. */
  nameOf(place: Place): string | null
  /** Its client is not there: it keeps its number, but its turn passes it by, until it is taken up again or given up. */
  putAside(place: Place): void
  /** Nobody waits for it, but once its turn has come it is held for `claimMs` for whoever takes it up. Stays so until then. */
  keep(place: Place, claimMs: number): void
  /** Counts and the positions of some waiting places. @throws StoreUnavailableError */
  status(sample: readonly Place[]): Promise<StoreStatus>
  /** Changes the operator's settings for all instances at once. @throws StoreUnavailableError ConflictError */
  configure(change: SettingsChange): Promise<SettingsRecord>
  /** Ends this instance: gives up what is left of its places and stops every timer. Waits at most `withinMs` for the store. Idempotent. */
  leave(withinMs: number): Promise<void>
}

/**
 * Why a place was refused. `keyFull`: as many of its key wait as may. `unavailable` is no verdict: the store could not decide. `unknown`: there
 * is nothing to take up again.
 */
export type RefusalReason = 'full' | 'keyFull' | 'permits' | 'limitFell' | 'unavailable' | 'unknown'

/** A place that now may run. */
export interface Grant {
  /** Grows with every grant of the queue, over all processes: a fencing token. */
  readonly fence: number
  /** Monotonic time of this process' clock at which the lease ends at the latest; `Infinity` never. */
  readonly endsAtMs: number
}

/** What is known of a place that is taken up again. */
export interface FoundPlace {
  readonly permits: number
  /** How long ago it arrived, in milliseconds. */
  readonly ageMs: number
}

/**
 * One ticket as its store sees it. The queue makes it and implements the upper half; the store calls that and keeps what it needs to
 * know in `slot`. Exactly one of `onGranted` and `onRefused` is called, at most once, and neither after `giveUp`.
 */
export interface Place {
  readonly permits: number
  readonly key: string | null
  /** How long ago it arrived, in milliseconds. */
  readonly ageMs: number
  /** The store's own notes on this place; nobody else touches it. */
  slot: unknown
  /** It stands in the line. `position` is 1 for the next, null when unknown (the store is in a grace). */
  onQueued(position: number | null): void
  onGranted(grant: Grant): void
  /** What it takes up again was found; before anything else is told of it. */
  onFound(found: FoundPlace): void
  /** Another place has taken it up: this one's is over, and nothing is to be given back. */
  onTaken(): void
  onRefused(reason: RefusalReason, cause?: unknown): void
  /** After `onGranted`: the store has ended the lease. Waiting places are never lost, they are put back. */
  onLost(cause: LeaseLostCause): void
}

/** A queue at one moment, seen over all instances. */
export interface StoreStatus {
  /** Tickets that wait, also those that are parked because their key is at its cap. */
  readonly waiting: number
  /** Permits in use. */
  readonly running: number
  /** Instances that hold or recently held tickets. */
  readonly instances: number
  /** Grants since the queue exists; its growth is the rate that estimates use. */
  readonly grants: number
  /** The store's time of this answer, in milliseconds; comparable with other answers of the same queue only. */
  readonly atMs: number
  /** For each place of the sample its position (1 = next), or null if it does not wait. */
  readonly positions: readonly (number | null)[]
  readonly settings: SettingsRecord
}
