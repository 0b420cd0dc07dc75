import type { IncomingMessage } from 'node:http'

/** Whether a request has a body (RFC 9112, 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Whether a part of a request's body can get lost, or has been taken by somebody, while the handler is yet to come: a stream that flows
 * does not wait for a reader. A body that nobody has touched stays where it is, and its sender is held back; one that was read to its end
 * is in the reader's hands.
 */
export function mayLoseBody(req: IncomingMessage): boolean {
  return hasBody(req) && !req.readableEnded && (req.readableFlowing === true || req.readableDidRead)
}
