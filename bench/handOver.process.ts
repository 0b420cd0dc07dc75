// Holds and hands over in turn with its twin: whenever one of its tickets is granted, it puts a new one in the line, times a no-op script
// call while everything is quiet, and leaves.
import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, Turn } from './kit/line.js'
import { machineNow } from './kit/monotonic.js'
import { openLine } from './kit/openLine.js'

export interface HandOverConfig {
  readonly contender: Contender
  readonly port: number
}

/** What one process saw; times of the machine's clock. Grant n is followed by n' > n of the next holder. */
export interface Holds {
  readonly holds: readonly { readonly grant: number; readonly grantedAtMs: number; readonly releasedAtMs: number }[]
  readonly noOpsMs: readonly number[]
}

const { contender, port } = JSON.parse(process.argv[2]!) as HandOverConfig
const redis = new Redis(port)
const sha = (await redis.script('LOAD', 'return 1')) as string
const line = await openLine(contender, port, 1)
const holds: { grant: number; grantedAtMs: number; releasedAtMs: number }[] = []
const noOpsMs: number[] = []
let ended = false

function enter(): void {
  line.enter((turn) => {
    const grantedAtMs = machineNow()
    hold(turn, grantedAtMs).catch((error: unknown) => {
      if (!ended) throw error
    })
  })
}

async function hold({ grant, leave }: Turn, grantedAtMs: number): Promise<void> {
  enter()
  await sleep(1)
  // The first call after a rest is slow; both that are timed come warm.
  await redis.evalsha(sha, 1, 'key', 'argument')
  const noOpAtMs = machineNow()
  await redis.evalsha(sha, 1, 'key', 'argument')
  const releasedAtMs = machineNow()
  leave()
  noOpsMs.push(releasedAtMs - noOpAtMs)
  holds.push({ grant, grantedAtMs, releasedAtMs })
}

process.on('message', (message: 'enter' | 'reset' | 'report' | 'stop') => {
  if (message === 'enter') {
    enter()
    // Answered when Redis has it: the next one, of whatever process, comes behind it.
    void line.entered().then(() => process.send!('entered'))
  } else if (message === 'reset') {
    holds.length = 0
    noOpsMs.length = 0
    process.send!('reset')
  } else if (message === 'report') {
    process.send!({ holds, noOpsMs } satisfies Holds)
  } else {
    ended = true
    void line.close().then(() => {
      redis.disconnect()
      process.disconnect()
    })
  }
})
process.send!('ready')
