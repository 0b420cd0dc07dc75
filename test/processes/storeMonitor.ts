import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** A grant as the store made it. */
export interface StoreGrant {
  readonly ticket: string
  /** Arrival number, 16 digits: texts in order are numbers in order. */
  readonly number: string
  /** Which of the clients' commands made it: the same for all grants of one. */
  readonly command: number
  /** The server's wall clock. */
  readonly atMs: number
}

/** A command that a client sent. */
export interface SentCommand {
  /** Its connection. */
  readonly source: string
  readonly args: readonly string[]
}

/** How soon after the end of a connection it tries another one: sooner than those on whom it looks. */
const AGAIN_MS = 5

/**
 * Looks over the server's shoulder (MONITOR): every command, also those of scripts, in the order of their execution. On a socket of its
 * own, since ioredis takes what follows the answer to MONITOR too closely for the answer to another command.
 */
export class StoreMonitor {
  readonly #port: number
  readonly #host: string
  readonly #sent: SentCommand[] = []
  /** Anew after each loss of memory. */
  readonly #eras: StoreGrant[][] = []
  #socket: Socket | undefined
  #closed = false

  constructor(port: number, host: string) {
    this.#port = port
    this.#host = host
  }

  /** All grants that it saw, in order, one list for each stretch between two losses of memory. */
  get eras(): readonly (readonly StoreGrant[])[] {
    return this.#eras.filter((grants) => grants.length > 0)
  }

  get grants(): readonly StoreGrant[] {
    return this.#eras.flat()
  }

  get sent(): readonly SentCommand[] {
    return this.#sent
  }

  /** Resolves when it sees what comes; connects again by itself whenever the server has gone. */
  async open(): Promise<void> {
    const socket = connect(this.#port, this.#host)
    this.#socket = socket
    socket.on('close', () => {
      if (!this.#closed) setTimeout(() => void this.open(), AGAIN_MS)
    })
    const lines = createInterface({ input: socket })
    // An error is followed by `close`; both tell it.
    for (const source of [socket, lines]) source.on('error', () => undefined)
    lines.on('line', (line) => this.#read(line))
    socket.write('MONITOR\r\n')
    await new Promise<void>((resolve) => {
      lines.once('line', () => resolve())
      socket.once('close', () => resolve())
    })
  }

  close(): void {
    this.#closed = true
    this.#socket?.destroy()
  }

  /** `+OK`, then lines such as `+1700000000.123456 [0 127.0.0.1:50000] "GET" "key"`. */
  #read(line: string): void {
    const [, seconds, source] = /^\+([\d.]+) \[\d+ ([^\]]+)\]/.exec(line) ?? []
    if (seconds === undefined || source === undefined) {
      this.#eras.push([])
      return
    }
    const args = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!)
    if (source === 'lua') this.#noteGrants(args, Number(seconds) * 1000)
    else this.#sent.push({ source, args })
    if (args[0]?.toLowerCase() === 'flushall') this.#eras.push([])
  }

  /** `ZADD running end member end member …`; that of tickets that come back has a `GT` before them. */
  #noteGrants([command, key, ...rest]: string[], atMs: number): void {
    if (command !== 'ZADD' || key?.endsWith(':running') !== true || rest[0] === 'GT') return
    for (const member of rest.filter((_, index) => index % 2 === 1)) {
      if (member !== '~') this.#eras.at(-1)!.push({ ...readMember(member), command: this.#sent.length, atMs })
    }
  }
}

/** A ticket's member text `number:instance:ticket:permits:key`; each ticket has a key of its own, the name that the log uses. */
export function readMember(member: string): { readonly ticket: string; readonly number: string } {
  const [number = '', , , , ticket = ''] = member.split(':')
  return { ticket, number }
}
