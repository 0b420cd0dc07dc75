import { Redis } from 'ioredis'
import { randomUUID } from 'node:crypto'
import type { Line, Turn } from './line.js'

const FREE = '{floor}:free'
const KEYS = ['{floor}:line', FREE, '{floor}:number']

const ENTER = `
local arrival = redis.call('INCR', KEYS[3])
if tonumber(redis.call('GET', KEYS[2])) > 0 then
  redis.call('DECR', KEYS[2])
  return { arrival, redis.call('INCR', KEYS[3]) }
end
redis.call('RPUSH', KEYS[1], ARGV[1])
return { arrival }`

const LEAVE = `
local next = redis.call('LPOP', KEYS[1])
if not next then return redis.call('INCR', KEYS[2]) end
local process, ticket = string.match(next, '^(.-):(.+)$')
redis.call('PUBLISH', process, ticket .. ':' .. redis.call('INCR', KEYS[3]))`

interface Waiter {
  readonly onTurn: (turn: Turn) => void
  arrival: number
}

/**
 * The least that is still a fair line shared by processes: a list, two scripts a request, and who leaves wakes the next one's process
 * directly. No lease, no crash safety, no time-out, no cancel, no repetition of what was lost.
 */
export class FloorLine implements Line {
  readonly #redis: Redis
  readonly #subscriber: Redis
  readonly #process = randomUUID()
  readonly #waiting = new Map<string, Waiter>()
  readonly #asking = new Set<Promise<unknown>>()
  #enterSha = ''
  #leaveSha = ''
  #count = 0
  #closed = false

  static async open(port: number): Promise<FloorLine> {
    const line = new FloorLine(port)
    await line.#open()
    return line
  }

  private constructor(port: number) {
    this.#redis = new Redis(port)
    this.#subscriber = new Redis(port)
  }

  /** How many may run is said once, before anybody enters. */
  static async prepare(redis: Redis, concurrency: number): Promise<void> {
    await redis.set(FREE, concurrency)
  }

  async #open(): Promise<void> {
    this.#enterSha = (await this.#redis.script('LOAD', ENTER)) as string
    this.#leaveSha = (await this.#redis.script('LOAD', LEAVE)) as string
    this.#subscriber.on('message', (_channel: string, message: string) => {
      const [ticket, grant] = message.split(':')
      const { onTurn, arrival } = this.#waiting.get(ticket!)!
      this.#waiting.delete(ticket!)
      this.#start(onTurn, arrival, Number(grant))
    })
    await this.#subscriber.subscribe(this.#process)
  }

  enter(onTurn: (turn: Turn) => void): void {
    this.#count += 1
    const ticket = String(this.#count)
    const waiter: Waiter = { onTurn, arrival: 0 }
    this.#waiting.set(ticket, waiter)
    const asking = this.#ask(waiter, ticket).catch((error: unknown) => {
      if (!this.#closed) throw error
    })
    this.#asking.add(asking)
  }

  async #ask(waiter: Waiter, ticket: string): Promise<void> {
    const member = `${this.#process}:${ticket}`
    const [arrival, grant] = (await this.#redis.evalsha(this.#enterSha, KEYS.length, ...KEYS, member)) as [
      number,
      number?,
    ]
    waiter.arrival = arrival
    if (grant === undefined) return
    this.#waiting.delete(ticket)
    this.#start(waiter.onTurn, arrival, grant)
  }

  async entered(): Promise<void> {
    await Promise.all(this.#asking)
    this.#asking.clear()
  }

  close(): Promise<void> {
    this.#closed = true
    this.#redis.disconnect()
    this.#subscriber.disconnect()
    return Promise.resolve()
  }

  #start(onTurn: (turn: Turn) => void, arrival: number, grant: number): void {
    onTurn({
      arrival,
      grant,
      leave: () => {
        this.#redis.evalsha(this.#leaveSha, KEYS.length, ...KEYS).catch(() => undefined)
      },
    })
  }
}
