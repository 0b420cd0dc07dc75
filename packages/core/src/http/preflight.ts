import type { IncomingMessage } from 'node:http'

/** A CORS preflight: the browser's own question, answered by a CORS layer, never work for the route. */
export function isPreflight(req: IncomingMessage): boolean {
  return req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined
}
