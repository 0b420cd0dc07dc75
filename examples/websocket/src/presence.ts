import type { WebSocket, WebSocketServer } from 'ws'

/** Ends connections whose other end does not answer a ping: it has gone without a word, or it does not read, and must not keep a place. */
export function endTheSilent(sockets: WebSocketServer, everyMs: number): void {
  const heard = new WeakSet<WebSocket>()
  sockets.on('connection', (socket) => {
    heard.add(socket)
    socket.on('pong', () => heard.add(socket))
  })
  const timer = setInterval(() => {
    for (const socket of sockets.clients) {
      if (heard.delete(socket)) socket.ping()
      else socket.terminate()
    }
  }, everyMs)
  sockets.on('close', () => clearInterval(timer))
}
