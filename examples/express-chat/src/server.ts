import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import {
  answerInEvents,
  closeOnSignals,
  eventHeaders,
  model,
  questionHint,
  readQuestion,
} from '@fairqueue/example-chat'
import { fairQueue } from '@fairqueue/express'
import { page } from './page.js'
import { visitors } from './visitors.js'

const { PORT = '3000', HOST = '127.0.0.1', CONCURRENCY = '2', REDIS_URL } = process.env

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const chat = fairQueue({
  name: 'chat',
  concurrency: Number(CONCURRENCY),
  maxWaitMs: '5m',
  statusIntervalMs: '500ms',
  store: redis ? new RedisStore({ redis }) : new MemoryStore(),
})

const app = express().disable('x-powered-by')
app.use(page)
app.use(visitors)

/** Checks a question before it takes a place in the line. */
const checkQuestion: RequestHandler = (req, res, next) => {
  const question = readQuestion(req.body)
  if (question === undefined) {
    res.status(400).json(questionHint)
    return
  }
  res.locals['question'] = question
  next()
}

app.post('/ask', express.json(), checkQuestion, chat, async (req, res) => {
  res.set(eventHeaders)
  for await (const event of answerInEvents(res.locals['question'] as string, req.fairQueue.signal)) res.write(event)
  res.end()
})

app.get('/status', async (_req, res) => {
  const status = await chat.queue.status()
  // While closing, a browser must not keep its connection for the next look.
  if (status.closing) res.set('Connection', 'close')
  res.json(status)
})

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  const { port } = server.address() as AddressInfo
  const answers = model === null ? 'passages as answers, because no model is set' : `answers by ${model}`
  console.log(`http://${HOST}:${port}: ${CONCURRENCY} at a time, line in ${redis ? 'Redis' : 'memory'}, ${answers}`)
})

closeOnSignals(server, chat, redis)
