import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { bodyParser } from '@koa/bodyparser'
import { Router } from '@koa/router'
import { Redis } from 'ioredis'
import Koa from 'koa'
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
import { fairQueue } from '@fairqueue/koa'
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

const router = new Router()

router.post(
  '/ask',
  // A question is checked before it takes a place in the line.
  async (ctx, next) => {
    const question = readQuestion(ctx.request.body)
    if (question === undefined) {
      ctx.status = 400
      ctx.body = questionHint
      return
    }
    ctx.state['question'] = question
    await next()
  },
  chat,
  (ctx) => {
    ctx.set(eventHeaders)
    ctx.body = Readable.from(answerInEvents(ctx.state['question'] as string, ctx.fairQueue.signal))
  },
)

router.get('/status', async (ctx) => {
  const status = await chat.queue.status()
  // While closing, a browser must not keep its connection for the next look.
  if (status.closing) ctx.set('Connection', 'close')
  ctx.body = status
})

const app = new Koa()
for (const layer of page) app.use(layer)
app.use(bodyParser())
app.use(visitors.routes())
app.use(router.routes())

const server = app.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as AddressInfo
  const answers = model === null ? 'passages as answers, because no model is set' : `answers by ${model}`
  console.log(`http://${HOST}:${port}: ${CONCURRENCY} at a time, line in ${redis ? 'Redis' : 'memory'}, ${answers}`)
})

closeOnSignals(server, chat, redis)
