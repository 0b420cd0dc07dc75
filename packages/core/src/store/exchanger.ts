import type { Settings, SettingsChange, SettingsRecord } from './settings.js'

/** Where an instance stands with the store. */
export interface Standing {
  /** The epoch that the instance knows; '' if none or too old to prove a loss. */
  readonly epoch: string
  /** The revision of the settings that the instance knows; -1 if none. */
  readonly revision: number
  /** For how long the state must at least be kept. */
  readonly keepMs: number
}

/** One batch of one instance (R4, R6). */
export interface ExchangeRequest extends Standing {
  readonly batch: number
  /** Whether the instance believes to have tickets in the store. */
  readonly holds: boolean
  readonly declaring: boolean
  /** Ask for all own running tickets and all instances. */
  readonly full: boolean
  /** Members of running tickets that are done. */
  readonly releases: readonly string[]
  /** Members of tickets that are given up, wherever they are. */
  readonly cancels: readonly string[]
  /** Members of tickets whose client has gone: `-:member`, or `-claimMs:member` for those that are kept. */
  readonly leaves: readonly string[]
  /** Whether there are any leaves, or acquires that take a place up again. */
  readonly moves: boolean
  /** Acquires, as `Slot.operation` writes them. */
  readonly acquires: readonly string[]
}

/** What a batch did; kept by the store, so that a repeated batch gets the same. */
export interface Verdicts {
  /** Number of the first accepted acquire; the next ones count on. */
  readonly first: number
  /**
   * One letter per acquire: g granted, q queued, f full, k too many of its key, p too many permits, h held (grace), u no room; for who takes a
   * place up again: m found, n not found.
   */
  readonly words: string
  /** Tickets of this instance that were granted: `member/fence`. */
  readonly grants: readonly string[]
  /** Places that others have taken (`!member`), and those that were found (`=member/ageMs/position[/fence/leftMs]`), in order. */
  readonly news: readonly string[]
}

/** The settings as another process may have changed them. */
export interface SettingsNews {
  readonly record: SettingsRecord
  /** What the store goes by, whatever the record says. */
  readonly inForce: Partial<Settings>
  readonly code: Settings
  readonly revision: number
  /** Some of what is stored is garbage: what was in force stays in force. */
  readonly broken: boolean
}

export interface ExchangeApplied {
  readonly word: 'ok'
  readonly epoch: string
  readonly verdicts: Verdicts
  /** Milliseconds until something ends of which no message tells. */
  readonly nextMs: number
  /** What is left of a grace; 0: none. */
  readonly graceMs: number
  /** Tickets in the line. */
  readonly waiting: number
  readonly settings: SettingsNews | null
  /** Bounded work is left over: exchange again at once. */
  readonly more: boolean
  /** With `full`: own running members and the first of as many fresh fences, all instances. */
  readonly full: { readonly fence: number; readonly running: readonly string[]; readonly instances: string } | null
}

export type ExchangeReply =
  | ExchangeApplied
  /** Forgotten, or memory lost: nothing was applied now. `verdicts` if this very batch had been applied before. */
  | { readonly word: 'rejoin'; readonly epoch: string; readonly verdicts: Verdicts | null }
  | { readonly word: 'stale' }

/** A part of an instance's tickets on the way back into the store (R18). */
export interface RejoinRequest extends Standing {
  readonly batch: number
  readonly fence: number
  readonly complete: boolean
  /** The instances that this one knew, each followed by a blank. */
  readonly known: string
  readonly waiting: readonly string[]
  readonly running: readonly { readonly member: string; readonly leftMs: number }[]
}

export type ConfigureReply =
  | { readonly word: 'ok'; readonly settings: SettingsNews; readonly grants: readonly string[]; readonly more: boolean }
  | { readonly word: 'conflict'; readonly version: number }
  | { readonly word: 'full' }

export interface StatusReply {
  readonly atMs: number
  readonly waiting: number
  readonly running: number
  readonly instances: number
  readonly grants: number
  readonly settings: SettingsRecord | null
  readonly positions: readonly (number | null)[]
}

/**
 * The way to a store in another process. Every method may fail or never answer; what failed is in doubt, not undone (R5).
 * `ready` is false while sending makes no sense (no connection); `onReady` is called each time it makes sense again.
 */
export interface Exchanger {
  /** This instance's id in the store. */
  readonly instance: string
  readonly ready: boolean
  exchange(request: ExchangeRequest): Promise<ExchangeReply>
  rejoin(request: RejoinRequest): Promise<{ readonly epoch: string }>
  configure(change: SettingsChange, standing: Standing): Promise<ConfigureReply>
  status(members: readonly string[]): Promise<StatusReply>
  /** The settings that the store is given if it has none. */
  know(record: SettingsRecord): void
  /** Ends the link; what is under way may still be answered. */
  close(): void
}

/** What an exchanger tells. */
export interface ExchangerListener {
  /** A connection (again): greet the store. */
  onReady(): void
  /** A hint: `grants` as in {@link Verdicts}, in the given epoch; none: look soon. */
  onHint(epoch: string, grants: readonly string[]): void
  onWakeChannel(open: boolean, cause: unknown): void
}
