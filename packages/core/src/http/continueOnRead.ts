// A stream calls its own `_read` when somebody begins to read it, and at no other time.
/* eslint-disable no-underscore-dangle */
import type { Server } from 'node:http'

const servers = new WeakSet<Server>()

/**
 * Has a server answer `Expect: 100-continue` when somebody begins to read the request's body, instead of at once as Node does. A client that
 * asks so before it sends a large body (curl does) then sends it only when its turn has come, and a refused one need not send it at all.
 * Idempotent. A server that answers `checkContinue` itself does not need it.
 * @example
 * const server = app.listen(3000)
 * continueOnRead(server)
 */
export function continueOnRead(server: Server): void {
  if (servers.has(server)) return
  servers.add(server)
  server.on('checkContinue', (req, res) => {
    const read = req._read.bind(req)
    req._read = (size) => {
      req._read = read
      // After an answer the body is read only to be dropped: nobody should be told to send it.
      if (!res.headersSent) res.writeContinue()
      read(size)
    }
    server.emit('request', req, res)
  })
}
