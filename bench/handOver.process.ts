// Holds and hands over in turn with its twin: whenever one of its tickets is granted, it puts a new one in the line, times a no-op script
// call while everything is quiet, and releases.
import { FairQueue, type Lease } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineNow } from './kit/monotonic.js'

/** What one process saw; times of the machine's clock. `fence` n is followed by n' > n of the next holder. */
export interface Holds {
  readonly holds: readonly { readonly fence: number; readonly grantedAtMs: number; readonly releasedAtMs: number }[]
  readonly noOpsMs: readonly number[]
}

const { port } = JSON.parse(process.argv[2]!) as { port: number }
const redis = new Redis(port)
const sha = (await redis.script('LOAD', 'return 1')) as string
const queue = new FairQueue({
  name: 'bench',
  concurrency: 1,
  maxWaitMs: '1h',
  store: new RedisStore({ redis }),
  bootGraceMs: 0,
})
const holds: { fence: number; grantedAtMs: number; releasedAtMs: number }[] = []
const noOpsMs: number[] = []
let ended = false

function enter(): void {
  queue.enter().whenSettled((outcome) => {
    const grantedAtMs = machineNow()
    if (outcome instanceof Error) {
      if (!ended) throw outcome
    } else {
      hold(outcome, grantedAtMs).catch((error: unknown) => {
        if (!ended) throw error
      })
    }
  })
}

async function hold(lease: Lease, grantedAtMs: number): Promise<void> {
  enter()
  await sleep(1)
  // The first call after a rest is slow; both that are timed come warm.
  await redis.evalsha(sha, 1, 'key', 'argument')
  const noOpAtMs = machineNow()
  await redis.evalsha(sha, 1, 'key', 'argument')
  const releasedAtMs = machineNow()
  const released = lease.release()
  noOpsMs.push(releasedAtMs - noOpAtMs)
  holds.push({ fence: lease.fence, grantedAtMs, releasedAtMs })
  await released
}

process.on('message', (message: 'enter' | 'reset' | 'report' | 'stop') => {
  if (message === 'enter') {
    enter()
    // Answered when Redis has it: the next one, of whatever process, comes behind it.
    void queue.status().then(() => process.send!('entered'))
  } else if (message === 'reset') {
    holds.length = 0
    noOpsMs.length = 0
    process.send!('reset')
  } else if (message === 'report') {
    process.send!({ holds, noOpsMs } satisfies Holds)
  } else {
    ended = true
    void queue.close({ graceMs: 0 }).then(() => {
      redis.disconnect()
      process.disconnect()
    })
  }
})
process.send!('ready')
