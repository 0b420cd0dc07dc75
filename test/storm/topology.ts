import type { FaultKind } from './entry.js'
import type { Link } from './link.js'

/** Faults of a store, done as a topology can do them. Each resolves when it is over; `durationMs` where it is a state. */
export type StoreFaults = Partial<Record<FaultKind, (durationMs: number) => Promise<void>>>

/** How Redis is run: alone, as a cluster, with sentinels. */
export interface Topology {
  readonly name: string
  readonly faults: StoreFaults
  /** A way to the store of its own for each server process, so that each can be cut off. */
  openLink(): Promise<Link>
  /** Something that answers when the store can; rejects or hangs when it cannot. Not over a link. */
  ping(): Promise<void>
  /** Ports on which a server can be watched (MONITOR). */
  readonly monitored: readonly number[]
  /** All keys that are there. */
  keys(): Promise<Record<string, { readonly type: string; readonly size: number; readonly expiresInMs: number }>>
  close(): Promise<void>
}
