// One of several processes that share a line: closed loops of enter, hold, leave.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender, Turn } from './kit/line.js'
import { machineNow } from './kit/monotonic.js'
import { openLine } from './kit/openLine.js'

/** What a process is told to do. */
export interface LineConfig {
  readonly contender: Contender
  readonly port: number
  readonly concurrency: number
  readonly holdMs: number
  /** Closed loops: how many of this process' tickets wait or run at any time. */
  readonly loops: number
}

/** One run of one ticket; times of the machine's clock. */
export interface Hold {
  /** The store's number of the ticket's arrival. */
  readonly arrival: number
  /** The store's number of its grant. */
  readonly grant: number
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** `start` fills the line, `record` forgets what was before, `report` answers with the holds since then, `stop` ends the process. */
export type LineCommand = 'start' | 'record' | 'report' | 'stop'

const { contender, port, concurrency, holdMs, loops } = JSON.parse(process.argv[2]!) as LineConfig
const line = await openLine(contender, port, concurrency)
let holds: Hold[] = []
let ended = false

function loop(): void {
  line.enter((turn) => void hold(turn))
}

async function hold({ arrival, grant, leave }: Turn): Promise<void> {
  const startedAtMs = machineNow()
  await sleep(holdMs)
  holds.push({ arrival, grant, startedAtMs, endedAtMs: machineNow() })
  leave()
  if (!ended) loop()
}

process.on('message', (command: LineCommand) => {
  if (command === 'start') {
    for (let started = 0; started < loops; started += 1) loop()
    void line.entered().then(() => process.send!('started'))
  } else if (command === 'record') {
    holds = []
    process.send!('recording')
  } else if (command === 'report') {
    process.send!(holds)
  } else {
    ended = true
    void line.close().then(() => process.disconnect())
  }
})
process.send!('ready')
