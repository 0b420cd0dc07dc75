// One of several processes that share a line: closed loops of acquire, hold, release.
import { FairQueue } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineNow } from './kit/monotonic.js'

/** What a process is told to do. */
export interface LineConfig {
  readonly port: number
  readonly concurrency: number
  readonly holdMs: number
  /** Closed loops: how many of this process' tickets wait or run at any time. */
  readonly loops: number
}

/** One run of one ticket; times of the machine's clock. */
export interface Hold {
  /** Redis' number of the ticket's arrival. */
  readonly arrival: number
  /** Redis' number of its grant. */
  readonly fence: number
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** `start` fills the line, `record` forgets what was before, `report` answers with the holds since then, `stop` ends the process. */
export type LineCommand = 'start' | 'record' | 'report' | 'stop'

const { port, concurrency, holdMs, loops } = JSON.parse(process.argv[2]!) as LineConfig
const redis = new Redis(port)
const queue = new FairQueue({
  name: 'bench',
  concurrency,
  maxQueueSize: Infinity,
  maxWaitMs: '1h',
  storeTimeoutMs: '1m',
  store: new RedisStore({ redis }),
  bootGraceMs: 0,
})
let holds: Hold[] = []
let ended = false

async function loop(): Promise<void> {
  while (!ended) {
    const ticket = queue.enter()
    const lease = await ticket.granted
    const startedAtMs = machineNow()
    // The public interface has no arrival number: this looks behind it, at the store's own notes.
    const { number } = ticket.slot as { readonly number: string }
    await sleep(holdMs)
    holds.push({ arrival: Number(number), fence: lease.fence, startedAtMs, endedAtMs: machineNow() })
    void lease.release()
  }
}

process.on('message', (command: LineCommand) => {
  if (command === 'start') {
    for (let started = 0; started < loops; started += 1) {
      void loop().catch((error: unknown) => {
        if (!ended) throw error
      })
    }
    // Answered when Redis has them all.
    void queue.status().then(() => process.send!('started'))
  } else if (command === 'record') {
    holds = []
    process.send!('recording')
  } else if (command === 'report') {
    process.send!(holds)
  } else {
    ended = true
    void queue.close({ graceMs: 0 }).then(() => {
      redis.disconnect()
      process.disconnect()
    })
  }
})
process.send!('ready')
