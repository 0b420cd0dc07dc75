import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { Redis } from 'ioredis'
import { WebSocketServer } from 'ws'
import { FairQueue, MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { closeForeign, endSoon } from './closing.js'
import { serveInTurn } from './place.js'
import { endTheSilent } from './presence.js'
import { serveSession } from './session.js'
import { closeOnSignals } from './shutdown.js'

const {
  PORT = '3000',
  HOST = '127.0.0.1',
  CONCURRENCY = '2',
  MAX_QUEUE_SIZE = '100',
  MAX_WAIT = '5m',
  SESSION = '2m',
  CLOSE_GRACE = '10s',
  WORD_MS = '200',
  PING_MS = '15000',
  REDIS_URL,
} = process.env

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const queue = new FairQueue({
  name: 'sessions',
  store: redis ? new RedisStore({ redis }) : new MemoryStore(),
  concurrency: Number(CONCURRENCY),
  maxQueueSize: Number(MAX_QUEUE_SIZE),
  maxWaitMs: MAX_WAIT,
  leaseMs: SESSION, // so long a session may last: who says nothing keeps nobody waiting for ever
  statusIntervalMs: '500ms',
})

const app = express().disable('x-powered-by')
app.use(express.static(fileURLToPath(new URL('../public', import.meta.url))))
app.get('/status', async (_req, res) => {
  res.json(await queue.status())
})

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  const { port } = server.address() as AddressInfo
  console.log(`http://${HOST}:${port}: ${CONCURRENCY} sessions at a time, line in ${redis ? 'Redis' : 'memory'}`)
})

const sockets = new WebSocketServer({ server, path: '/session', maxPayload: 4096 })
endTheSilent(sockets, Number(PING_MS))
sockets.on('connection', (socket, req) => {
  socket.on('error', () => endSoon(socket)) // the client did not keep to the protocol, and ws has told it so
  if (isForeign(req)) closeForeign(socket)
  else void serveInTurn(socket, queue, (it, signal) => serveSession(it, Number(WORD_MS), signal))
})

/** Browsers let pages of any origin open sockets to any server: it is for the server to look where they come from. */
function isForeign({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin !== undefined && ![`http://${host}`, `https://${host}`].includes(origin)
}

closeOnSignals(server, sockets, queue, CLOSE_GRACE, () => redis?.disconnect())
