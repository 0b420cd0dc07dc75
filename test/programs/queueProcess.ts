// One of several processes that share a line: takes tickets as it is told, and writes what becomes of them into a log that all write.
import {
  FairQueue,
  isFairQueueError,
  type FairQueueOptions,
  type Lease,
  type QueueStatus,
  type Ticket,
} from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis as Redis6 } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a process is started with. */
export interface ProcessConfig {
  /** One or more letters: its tickets are called by it and a number, e.g. `A1`. */
  readonly name: string
  readonly port: number
  /** Path of the common log. */
  readonly log: string
  readonly ioredis: 5 | 6
  /** How long its client waits before it tries to connect again. */
  readonly reconnectMs: number
  readonly queue: Omit<FairQueueOptions, 'name' | 'store' | 'clock' | 'logger'>
}

/** How tickets are taken and what they do when they run. */
export interface Load {
  /** How long each works; `null`: until told to finish, or until its lease is lost. */
  readonly workMs: number | null
  /** Pause between two of them. 0: all at once. */
  readonly everyMs: number
}

/** What a process is told. Each is answered, with the status for `status`. */
export type Command =
  | ({ readonly do: 'enter'; readonly count: number } & Load)
  | { readonly do: 'answered' }
  | { readonly do: 'finish'; readonly count: number }
  | { readonly do: 'status'; readonly count: number }
  | { readonly do: 'configure'; readonly concurrency: number; readonly by: string }
  | { readonly do: 'close' }

/** The answers to a command's `id`. */
export interface Answer {
  readonly id: number
  readonly error?: string
  readonly statuses?: readonly QueueStatus[]
}

/** What is in the log, by whom and when by the machine's monotonic clock, which all its processes share. */
export type LogEntry = { readonly atMs: number; readonly process: string } & Happening

/** `number` is the store's arrival number. Work ends by itself (`ended`) or because its lease is lost. */
export type Happening =
  | { readonly what: 'entered'; readonly ticket: string }
  | { readonly what: 'started'; readonly ticket: string; readonly number: string; readonly fence: number }
  | { readonly what: 'ended'; readonly ticket: string }
  | { readonly what: 'lost'; readonly ticket: string; readonly by: string }
  | { readonly what: 'refused'; readonly ticket: string; readonly code: string }
  | { readonly what: 'degraded'; readonly degraded: boolean; readonly cause: string }
  | { readonly what: 'fault'; readonly error: string }
  // What the test itself does to a process.
  | { readonly what: 'killed' }
  | { readonly what: 'stopped' }
  | { readonly what: 'resumed' }

const config = JSON.parse(process.argv[2]!) as ProcessConfig

// Appended at once and in one piece: what is written survives this process, and no entry is torn by another.
const log = openSync(config.log, 'a')
function note(happening: Happening): void {
  const entry: LogEntry = { atMs: Number(process.hrtime.bigint()) / 1e6, process: config.name, ...happening }
  writeSync(log, `${JSON.stringify(entry)}\n`)
}

process.on('uncaughtException', (error) => {
  note({ what: 'fault', error: String(error.stack) })
  process.exit(1)
})
// A test that is gone needs nobody; who has closed has to end by itself.
process.on('disconnect', () => {
  if (!queue.closing) process.exit()
})

const Redis = config.ioredis === 6 ? Redis6 : (Redis5 as unknown as typeof Redis6)
const redis = new Redis(config.port, '127.0.0.1', { retryStrategy: () => config.reconnectMs })
redis.on('error', () => undefined)
const store = new RedisStore({ redis })
const queue = new FairQueue({ ...config.queue, name: 'line', store, logger: { warn: () => undefined } })
queue.on('degraded', ({ degraded, cause }) => note({ what: 'degraded', degraded, cause: String(cause) }))
queue.on('error', (error) => note({ what: 'fault', error: String(error) }))

let taken = 0
/** Those of whom it is not known yet whether the store has answered. */
let asking: Ticket[] = []
/** Ends the work of those who run until told, oldest first. */
const finishers = new Set<() => void>()

/** The public interface has no arrival number: this looks behind it, at the store's own notes. Empty while there is none. */
function numberOf(ticket: Ticket): string {
  return (ticket.slot as { readonly number: string }).number
}

function enter(workMs: number | null): void {
  taken += 1
  const name = `${config.name}${taken}`
  // The key shows in the store whose ticket it is.
  const ticket = queue.enter({ key: name })
  asking.push(ticket)
  note({ what: 'entered', ticket: name })
  ticket.whenSettled((outcome) => {
    if (outcome instanceof Error) {
      note({ what: 'refused', ticket: name, code: isFairQueueError(outcome) ? outcome.code : String(outcome) })
    } else {
      note({ what: 'started', ticket: name, number: numberOf(ticket), fence: outcome.fence })
      void work(name, outcome, workMs)
    }
  })
}

/** Noted as running from after its grant until before its release: what the log shows at the same time was granted at the same time. */
async function work(ticket: string, lease: Lease, workMs: number | null): Promise<void> {
  await new Promise<void>((resolve) => {
    if (workMs === null) finishers.add(resolve)
    else setTimeout(resolve, workMs)
    lease.signal.addEventListener('abort', () => {
      note({ what: 'lost', ticket, by: lease.loss!.lostBy })
      finishers.delete(resolve)
      resolve()
    })
  })
  if (lease.loss === null) note({ what: 'ended', ticket })
  await lease.release()
}

async function obey(command: Command): Promise<Omit<Answer, 'id'>> {
  switch (command.do) {
    case 'enter':
      for (let count = 0; count < command.count; count += 1) {
        enter(command.workMs)
        if (command.everyMs > 0) await sleep(command.everyMs)
      }
      return {}
    case 'answered':
      for (; asking.length > 0; await sleep(1))
        asking = asking.filter((ticket) => ticket.outcome === undefined && numberOf(ticket) === '')
      return {}
    case 'finish':
      for (const finish of [...finishers].slice(0, command.count)) {
        finishers.delete(finish)
        finish()
      }
      return {}
    case 'status':
      return { statuses: await Promise.all(Array.from({ length: command.count }, () => queue.status())) }
    case 'configure':
      await queue.configure({ concurrency: command.concurrency }, { by: command.by })
      return {}
    case 'close':
      await queue.close()
      await store.close()
      redis.disconnect()
      return {}
  }
}

process.on('message', ({ id, ...command }: Command & { readonly id: number }) => {
  obey(command).then(
    (answer) => process.send!({ id, ...answer } satisfies Answer),
    (error: unknown) => process.send!({ id, error: String(error) } satisfies Answer),
  )
})
redis.once('ready', () => process.send!({ id: 0 } satisfies Answer))
