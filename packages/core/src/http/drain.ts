import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'
import type { Clock } from '../base/clock.js'

/** A refused upload is read for at most so long and so many bytes, so that its sender gets to read why; then the connection ends. */
const LONGEST_MS = 5000
const MOST_BYTES = 16 * 1024 * 1024

/** A client that sends more still gets so long to read the answer. */
const LAST_LOOK_MS = 500

/** What is shorter is read to its end by Node itself, and the connection can be used again. */
const LONG_BYTES = 64 * 1024

/** Whether the client is still sending a body that is long, or of unknown length. */
export function isLongUpload({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LONG_BYTES
}

/**
 * Reads and drops the rest of a request's body within bounds, then calls back once. Closing a connection with unread data in it would
 * reset it, and a reset can take away the answer that the client has not read yet.
 */
export function drainThen(req: IncomingMessage, clock: Clock, done: () => void): void {
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes <= MOST_BYTES) return
    req.pause()
    req.off('data', count)
    timer.cancel()
    timer = clock.setTimer(end, LAST_LOOK_MS, 'background')
  }
  const end = (): void => {
    stopWatching()
    timer.cancel()
    req.off('data', count)
    done()
  }
  let timer = clock.setTimer(end, LONGEST_MS, 'background')
  const stopWatching = finished(req, { writable: false }, end)
  req.on('data', count)
  req.resume()
}
