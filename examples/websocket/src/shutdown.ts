import type { Server } from 'node:http'
import type { WebSocketServer } from 'ws'
import type { FairQueue } from '@fairqueue/core'

/**
 * On Ctrl-C or SIGTERM who waits is told to come back, who talks may finish within `graceMs`, then everything closes and the process ends by
 * itself.
 */
export function closeOnSignals(
  server: Server,
  sockets: WebSocketServer,
  queue: FairQueue,
  graceMs: string,
  last: () => void,
): void {
  const close = async (): Promise<void> => {
    server.close() // nobody new connects
    await queue.close({ graceMs }) // sends everybody away, at last those who talk
    sockets.close()
    last()
    server.closeIdleConnections()
    // The last bytes get a moment to leave; after that, connections that browsers keep for later must not hold us.
    setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
    }, 500).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
}
