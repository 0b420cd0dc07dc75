import type { Settings } from '../store/settings.js'

/** A queue at one moment. Counts over all processes are null when the store could not be asked (`degraded` is then true). */
export interface QueueStatus extends Settings {
  readonly name: string
  /** The kind of store, e.g. `memory`, `redis`. */
  readonly store: string
  /** Permits in use, over all processes. */
  readonly running: number | null
  /** Tickets in the line, over all processes. */
  readonly waiting: number | null
  /** `concurrency` − `running`, never below 0. */
  readonly free: number | null
  /** Instances that take part. */
  readonly instances: number | null
  /** Grants since the queue exists. */
  readonly grants: number | null
  /** Grants per second over about the last minute; null while too little is known. */
  readonly grantsPerSecond: number | null
  /** Tickets of this instance; `limit`: how many permits it gives by itself while the store does not answer, null while that decides. */
  readonly local: { readonly running: number; readonly waiting: number; readonly limit: number | null }
  /** Whether the store does not answer. */
  readonly degraded: boolean
  /** Whether hints arrive; `down`: the line works by polling alone. */
  readonly wakeChannel: 'open' | 'down'
  readonly closing: boolean
  /** Version of the operator's settings; 0 if there never were any. */
  readonly version: number
  /** What an operator set over the values in code. */
  readonly operator: Partial<Settings>
  /** Who made the last change. */
  readonly by: string | null
}
