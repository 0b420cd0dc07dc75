import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Happening, StoreTicket } from './entry.js'
import { nowMs, type LogWriter } from './log.js'

/** Sooner than any server process is back, so that it sees what they do. */
const AGAIN_MS = 5

/** Looks over a server's shoulder (MONITOR), and writes down who enters the line, who leaves it and who is granted, in the store's own order. */
export class StoreWatch {
  readonly #port: number
  readonly #log: LogWriter
  #socket: Socket | undefined
  #closed = false
  #lastAtMs = 0

  constructor(port: number, log: LogWriter) {
    this.#port = port
    this.#log = log
    this.#open()
  }

  close(): void {
    this.#closed = true
    this.#socket?.destroy()
  }

  #open(): void {
    const socket = connect(this.#port, '127.0.0.1')
    this.#socket = socket
    const lines = createInterface({ input: socket })
    // An error is followed by `close`; both tell it.
    for (const source of [socket, lines]) source.on('error', () => undefined)
    socket.on('close', () => {
      if (!this.#closed) setTimeout(() => this.#open(), AGAIN_MS)
    })
    lines.on('line', (line) => this.#read(line))
    socket.write('MONITOR\r\n')
  }

  /** `+OK`, then lines such as `+1700000000.123456 [0 lua] "ZADD" "key" …`. */
  #read(line: string): void {
    if (line === '+OK') {
      this.#write({ what: 'memoryGone' }, nowMs())
      return
    }
    const [, seconds, source] = /^\+([\d.]+) \[\d+ ([^\]]+)\]/.exec(line) ?? []
    if (seconds === undefined) return
    const args = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!)
    const atMs = Number(seconds) * 1000
    if (source === 'lua') this.#readCommand(args, atMs)
    else if (args[0]?.toLowerCase() === 'flushall') this.#write({ what: 'memoryGone' }, atMs)
  }

  #readCommand([command, key = '', ...rest]: string[], atMs: number): void {
    const isLine = key.endsWith(':waiting')
    if (command === 'ZREM' && isLine) this.#note('unlined', rest, atMs)
    else if (command === 'ZADD' && (isLine || key.endsWith(':running'))) {
      // Whoever comes back running (GT) or is held (LT) has been granted before.
      if (rest[0] === 'GT' || rest[0] === 'LT') return
      const members = rest.filter((_, index) => index % 2 === 1)
      this.#note(isLine ? 'lined' : 'granted', members, atMs)
    }
  }

  #note(what: 'lined' | 'unlined' | 'granted', members: readonly string[], atMs: number): void {
    const tickets = members.map(readMember).filter((ticket) => ticket !== undefined)
    if (tickets.length > 0) this.#write({ what, tickets }, atMs)
  }

  /** Its order is what counts, and two clocks tell its times. */
  #write(happening: Happening, atMs: number): void {
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs)
    this.#log.note(happening, this.#lastAtMs)
  }
}

/** `number:instance:ticket:permits:key`; undefined for sentinels. */
function readMember(member: string): StoreTicket | undefined {
  const [number = '', , , permits] = member.split(':')
  return permits === undefined ? undefined : { number, permits: Number(permits) }
}
