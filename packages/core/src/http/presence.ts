import type { IncomingMessage, ServerResponse } from 'node:http'

/** What the compatibility API of HTTP/2 has beside the interface of HTTP/1. */
interface OverStream {
  readonly stream?: { readonly destroyed: boolean; readonly writableNeedDrain: boolean }
}

/** Whether nobody is left to answer: the client has gone, or somebody else has ended the response. */
export function isOver(req: IncomingMessage, res: ServerResponse): boolean {
  if (res.writableEnded || res.destroyed) return true
  const { stream } = res as OverStream
  return stream === undefined ? req.socket.destroyed : stream.destroyed
}

/**
 * Whether a response that has closed was sent in full. Both properties are needed: after a reset of its stream, HTTP/2 says
 * `writableFinished` although nobody ended the response.
 */
export function wasSent(res: ServerResponse): boolean {
  return res.writableEnded && res.writableFinished
}

/** Whether the connection's side of a response is over, whoever ended it. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || (res as OverStream).stream?.destroyed === true
}

/** Whether what was written waits for a client that does not read. */
export function needsDrain(res: ServerResponse): boolean {
  return (res as OverStream).stream?.writableNeedDrain ?? res.writableNeedDrain
}
