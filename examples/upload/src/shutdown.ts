import type { Server } from 'node:http'
import type { FairQueueMiddleware } from '@fairqueue/express'

/** On Ctrl-C or SIGTERM who waits gets an answer, who runs may finish, then everything closes and the process ends by itself. */
export function closeOnSignals(
  server: Server,
  queues: readonly FairQueueMiddleware[],
  last: () => Promise<void>,
): void {
  const close = async (): Promise<void> => {
    server.close() // nobody new connects
    await Promise.all(queues.map((queue) => queue.close({ graceMs: '10s' })))
    server.closeIdleConnections()
    // The last bytes get a moment to leave; after that, connections that browsers keep for later must not hold us.
    setTimeout(() => server.closeAllConnections(), 500).unref()
    await last()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
}
