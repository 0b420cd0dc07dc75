import { FairQueue, type FairQueueOptions } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { FakeClock } from '@fairqueue/core/testing'
import { Pipes } from './pipes.js'
import { QUEUE } from './server.js'

/** Short lives, so that a run has time for all of it. */
export const times = { livenessMs: 3000, pollIntervalMs: 400, storeTimeoutMs: 300, leaseMs: 5000 } as const

/** One server process: its own connections, store and clock. */
export class ModelProcess {
  readonly label: string
  readonly clock: FakeClock = new FakeClock()
  readonly pipes: Pipes = new Pipes()
  readonly store: RedisStore
  readonly queue: FairQueue
  /** It does not run: no timer fires and it hears nothing; what it has sent goes its way. */
  frozen = false
  /** Frozen for ever. */
  dead = false
  connected = true
  /** It lets in by itself, since the store does not answer it (R25). */
  alone = false

  constructor(label: string, nowMs: number, serverRun: string, options: Partial<FairQueueOptions>) {
    this.label = label
    this.clock.moveTo(nowMs)
    this.pipes.serverRun = serverRun
    this.store = new RedisStore({ redis: this.pipes })
    const { clock, store } = this
    const quiet = { warn: () => undefined }
    const fixed = {
      name: QUEUE,
      bootGraceMs: 0,
      logger: quiet,
      maxWaitMs: '10m',
      concurrency: 1,
      onStoreError: 'closed',
      ...times,
    } as const
    this.queue = new FairQueue({ ...fixed, ...options, clock, store })
    this.queue.on('local', ({ limit }) => {
      this.alone = limit !== null
    })
  }

  /** How the store calls it; empty before its first exchange. */
  get id(): string {
    return this.pipes.instance
  }

  get awake(): boolean {
    return !this.frozen && !this.dead
  }
}
