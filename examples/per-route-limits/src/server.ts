import fastify from 'fastify'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/fastify'
import { work } from './work.js'

const { PORT = '3000', HOST = '127.0.0.1', REDIS_URL, WORK_MS = '2000' } = process.env
const workMs = Number(WORK_MS)

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const app = fastify()
await app.register(fairQueue, {
  global: false, // only routes that ask
  store: redis ? new RedisStore({ redis }) : new MemoryStore(),
  maxWaitMs: '60s', // the default of all that do
  keyGenerator: ({ headers }) => headers['x-user']?.toString(),
})

// A limit of its own: two at a time, whoever comes after three that wait is refused.
app.get(
  '/report',
  { config: { fairQueue: { concurrency: 2, maxQueueSize: 3 } } },
  async ({ fairQueue: { signal } }) => {
    await work(workMs, signal)
    return { report: 'Sales were good.' }
  },
)

// Two routes that use the same model share its limit: the same name is the same line.
const model = { name: 'model', concurrency: 2 }
app.get('/answer', { config: { fairQueue: model } }, async ({ fairQueue: { signal } }) => {
  await work(workMs, signal)
  return { answer: '42' }
})
// A summary costs the model twice as much, and only who is quick is worth waiting for.
app.get(
  '/summary',
  { config: { fairQueue: { ...model, permits: 2, maxWaitMs: '10s' } } },
  async ({ fairQueue: { signal } }) => {
    await work(workMs, signal)
    return { summary: 'It is about 42.' }
  },
)

// No limit at all.
app.get('/', async () => ({ routes: ['/report', '/answer', '/summary', '/status'] }))

// The lines are known by their names: those that were given, and for a route without one the route's own.
const lines = ['GET /report', 'model'].map((name) => app.fairQueue({ name }).queue)
app.get('/status', async () => {
  const all = await Promise.all(lines.map((line) => line.status()))
  return Object.fromEntries(
    all.map(({ name, concurrency, running, waiting }) => [name, { concurrency, running, waiting }]),
  )
})

// On Ctrl-C or SIGTERM who waits gets a 503 with Retry-After, who runs may finish, and what was opened is closed.
app.addHook('onClose', () => redis?.disconnect())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())

const url = await app.listen({ port: Number(PORT), host: HOST })
console.log(`${url}: line in ${redis ? 'Redis' : 'memory'}; try ${lines.map(({ name }) => name).join(' and ')}`)
