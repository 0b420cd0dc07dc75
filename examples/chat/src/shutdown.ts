import type { Server } from 'node:http'
import type { Redis } from 'ioredis'

/** What closes a queue: a `fairQueue` of any framework. */
interface Queue {
  close(options: { readonly graceMs: string }): Promise<void>
}

/** On Ctrl-C or SIGTERM who waits gets an answer, who runs may finish, then everything closes and the process ends by itself. */
export function closeOnSignals(server: Server, queue: Queue, redis: Redis | null): void {
  const close = async (): Promise<void> => {
    server.close() // nobody new connects
    await queue.close({ graceMs: '10s' }) // who waits gets a 503 with Retry-After, who runs may finish
    redis?.disconnect()
    server.closeIdleConnections()
    // The last bytes get a moment to leave; after that, connections that browsers keep for later must not hold us.
    setTimeout(() => server.closeAllConnections(), 500).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
}
