import type { Server } from 'node:http'
import type { Redis } from 'ioredis'
import type { FairQueueMiddleware } from '@fairqueue/express'

/**
 * On Ctrl-C or SIGTERM, and when the process that has started this one is gone, who waits gets an answer, who runs may finish, then
 * everything closes and the process ends by itself.
 */
export function closeOnSignals(server: Server, line: FairQueueMiddleware, redis: Redis): void {
  const close = async (): Promise<void> => {
    server.close() // nobody new connects
    await line.close({ graceMs: '10s' })
    redis.disconnect()
    server.closeIdleConnections()
    // The last bytes get a moment to leave; after that, connections that clients keep for later must not hold us.
    setTimeout(() => server.closeAllConnections(), 500).unref()
    if (process.connected) process.disconnect()
  }
  for (const event of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(event, () => void close())
}
