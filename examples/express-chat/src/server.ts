import type { AddressInfo } from 'node:net'
import express from 'express'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/express'
import { answerQuestion, model } from './answer.js'
import { beginEvents, sendEvent } from './events.js'
import { page } from './page.js'
import { readQuestion } from './question.js'
import { findPassages } from './retrieval.js'
import { closeOnSignals } from './shutdown.js'
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

app.post('/ask', express.json(), readQuestion, chat, async (req, res) => {
  const { signal } = req.fairQueue
  const question: string = res.locals['question']
  const passages = findPassages(question)
  beginEvents(res)
  sendEvent(res, 'sources', { model, files: passages.map(({ source }) => source) })
  try {
    for await (const text of answerQuestion(question, passages, signal)) sendEvent(res, 'text', text)
    sendEvent(res, 'done', null)
  } catch (error) {
    if (!signal.aborted) console.error('The answer broke off:', error)
    sendEvent(res, 'error', { error: { message: 'The answer broke off.' } })
  }
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
