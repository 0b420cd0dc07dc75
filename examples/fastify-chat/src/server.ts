import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import fastify, { type preHandlerAsyncHookHandler } from 'fastify'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { answerInEvents, eventHeaders, model, questionHint, readQuestion } from '@fairqueue/example-chat'
import { fairQueue } from '@fairqueue/fastify'
import { page } from './page.js'
import { visitors } from './visitors.js'

const { PORT = '3000', HOST = '127.0.0.1', CONCURRENCY = '2', REDIS_URL } = process.env

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

// While it closes, routes go on to answer: the queue itself refuses who comes.
const app = fastify({ forceCloseConnections: true, return503OnClosing: false })
await app.register(page)
await app.register(visitors)
await app.register(fairQueue, { global: false, store: redis ? new RedisStore({ redis }) : new MemoryStore() })

const chat = app.fairQueue({
  name: 'chat',
  concurrency: Number(CONCURRENCY),
  maxWaitMs: '5m',
  statusIntervalMs: '500ms',
})

app.decorateRequest('question', '')

/** Checks a question before it takes a place in the line. */
const checkQuestion: preHandlerAsyncHookHandler = async (request, reply) => {
  const question = readQuestion(request.body)
  if (question === undefined) return reply.code(400).send(questionHint)
  request.setDecorator('question', question)
}

app.post('/ask', { preHandler: [checkQuestion, chat] }, async (request, reply) => {
  reply.headers(eventHeaders)
  return Readable.from(answerInEvents(request.getDecorator('question'), request.fairQueue.signal))
})

app.get('/status', () => chat.queue.status())

// On Ctrl-C or SIGTERM who waits gets a 503 with Retry-After, who runs may finish, then everything closes and the process ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())
// The last bytes get a moment to leave; then no connection that a browser keeps for later holds us.
app.addHook('preClose', () => setTimeout(500))
app.addHook('onClose', () => redis?.disconnect())

const url = await app.listen({ port: Number(PORT), host: HOST })
const answers = model === null ? 'passages as answers, because no model is set' : `answers by ${model}`
console.log(`${url}: ${CONCURRENCY} at a time, line in ${redis ? 'Redis' : 'memory'}, ${answers}`)
