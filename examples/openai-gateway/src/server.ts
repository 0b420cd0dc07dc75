import type { AddressInfo } from 'node:net'
import express from 'express'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/express'
import { onlyFor } from './access.js'
import { openFakeUpstream } from './fakeUpstream.js'
import { forwardTo } from './forward.js'
import { openAiError } from './openAiError.js'
import { closeOnSignals } from './shutdown.js'

const { PORT = '3000', HOST = '127.0.0.1', CONCURRENCY = '2', MAX_QUEUE_SIZE = '100', REDIS_URL } = process.env
const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY, GATEWAY_KEY } = process.env
if (OPENAI_API_KEY && !GATEWAY_KEY && HOST !== '127.0.0.1') {
  throw new Error('Set GATEWAY_KEY: without it everybody who reaches this host could use your OPENAI_API_KEY.')
}

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const upstream = OPENAI_API_KEY
  ? { baseUrl: OPENAI_BASE_URL, key: OPENAI_API_KEY }
  : { baseUrl: await openFakeUpstream(), key: 'fake' }

// In one piece with the handler: a place is then free as soon as its work has ended, also when the client left before.
const line = fairQueue.wrap(
  {
    name: 'openai',
    concurrency: Number(CONCURRENCY),
    maxQueueSize: Number(MAX_QUEUE_SIZE),
    maxWaitMs: '5m',
    store: redis ? new RedisStore({ redis }) : new MemoryStore(),
    // Looking something up costs the upstream nothing.
    skip: (req) => req.method === 'GET',
    // In the form in which OpenAI's clients look for it.
    message: (_req, { message, code }) => openAiError(message, 'overloaded_error', code),
  },
  forwardTo(upstream),
)

const app = express().disable('x-powered-by')
app.get('/status', async (_req, res) => void res.json(await line.queue.status()))
if (GATEWAY_KEY) app.use('/v1', onlyFor(GATEWAY_KEY))
// The body is read before the wait, so that a client that leaves is noticed at once.
app.use('/v1', express.raw({ type: () => true, limit: '50mb' }), line)

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  const { port } = server.address() as AddressInfo
  const whom = OPENAI_API_KEY ? OPENAI_BASE_URL : 'a fake upstream, because no OPENAI_API_KEY is set'
  console.log(`http://${HOST}:${port}/v1: ${CONCURRENCY} at a time to ${whom}, line in ${redis ? 'Redis' : 'memory'}`)
})

closeOnSignals(server, line, redis)
