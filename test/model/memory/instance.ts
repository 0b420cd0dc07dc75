import type { FairQueue } from '@fairqueue/core'

/** One instance of the queue in this process. */
export interface ModelInstance {
  readonly label: string
  readonly queue: FairQueue
  /** When the work that it runs is taken away; Infinity while it is open. */
  closesAtMs: number
  hasLeft: boolean
}
