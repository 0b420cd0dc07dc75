import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { Redis } from 'ioredis'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/express'
import { closeOnSignals } from './shutdown.js'

// One of the servers. As many of them as you like share one line: that of their Redis.
const {
  NAME = 'A',
  PORT = '3001',
  HOST = '127.0.0.1',
  REDIS_URL = 'redis://127.0.0.1:6379',
  CONCURRENCY = '2',
  WORK_MS = '2000',
} = process.env

const redis = new Redis(REDIS_URL)
redis.on('error', (error) => console.error(`${NAME}, Redis:`, error.message))

const line = fairQueue({
  name: 'two-servers', // the same name on the same Redis is the same line
  store: new RedisStore({ redis }),
  concurrency: Number(CONCURRENCY), // over all servers together
  maxWaitMs: '5m',
  livenessMs: '3s', // what a dead server held goes to the next after so long; 10 s unless said otherwise
  statusIntervalMs: '200ms',
})

const app = express().disable('x-powered-by')

app.get('/work', line, async (req, res) => {
  res.type('text/event-stream').write(`data: begun by ${NAME}\n\n`)
  // Something slow, which stops when its client leaves.
  await sleep(Number(WORK_MS), undefined, { signal: req.fairQueue.signal }).catch(() => undefined)
  res.end(`data: done by ${NAME}\n\n`)
})

app.get('/status', async (_req, res) => {
  res.json(await line.queue.status())
})

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  const url = `http://${HOST}:${(server.address() as AddressInfo).port}`
  if (process.send) process.send({ url }) // the demo has started us
  else console.log(`${url}: server ${NAME}, line in Redis`)
})

closeOnSignals(server, line, redis)
