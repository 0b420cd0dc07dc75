// An Express server with one route that says hello, behind one of several guards.
import { fairQueue } from '@fairqueue/express'
import { RedisStore } from '@fairqueue/core/redis'
import express, { type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { Redis } from 'ioredis'
import type { AddressInfo } from 'node:net'
import { RedisStore as RateLimitRedisStore, type RedisReply } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from 'rate-limiter-flexible'

export type Guard =
  | 'none'
  | 'fairqueueMemory'
  | 'fairqueueRedis'
  | 'fairqueueSilent'
  | 'fairqueueTold'
  | 'flexibleMemory'
  | 'flexibleRedis'
  | 'expressRateLimitMemory'
  | 'expressRateLimitRedis'

export interface HelloConfig {
  readonly guard: Guard
  /** Of Redis. */
  readonly port: number
}

/** What a server says of itself. */
export interface HelloAnswer {
  /** Where it listens. */
  readonly port: number
  /** Of this process since its start. */
  readonly cpuUs: number
}

/** Nobody reaches it: what is measured is the way through, not the refusal. */
const LIMIT = 1_000_000_000

const { guard, port } = JSON.parse(process.argv[2]!) as HelloConfig
const redis = new Redis(port)

/** The middleware that its documentation shows. */
function flexible(limiter: RateLimiterAbstract): RequestHandler {
  return async (req, res, next) => {
    try {
      await limiter.consume(req.ip!)
    } catch {
      res.status(429).send('Too Many Requests')
      return
    }
    next()
  }
}

const guards: Readonly<Record<Guard, () => RequestHandler>> = {
  none: () => (_req, _res, next) => next(),
  fairqueueMemory: () => fairQueue({ concurrency: 1000 }),
  fairqueueRedis: () =>
    fairQueue({ name: 'bench', concurrency: 1000, store: new RedisStore({ redis }), bootGraceMs: 0 }),
  fairqueueSilent: () => fairQueue({ concurrency: 1000, sse: 'never' }),
  fairqueueTold: () => fairQueue({ concurrency: 1000, sse: 'always' }),
  flexibleMemory: () => flexible(new RateLimiterMemory({ points: LIMIT, duration: 60 })),
  flexibleRedis: () => flexible(new RateLimiterRedis({ storeClient: redis, points: LIMIT, duration: 60 })),
  expressRateLimitMemory: () => rateLimit({ limit: LIMIT }),
  expressRateLimitRedis: () =>
    rateLimit({
      limit: LIMIT,
      store: new RateLimitRedisStore({
        sendCommand: (command: string, ...values: string[]) => redis.call(command, ...values) as Promise<RedisReply>,
      }),
    }),
}

const app = express()
if (guard !== 'none') app.use(guards[guard]())
app.get('/', (_req, res) => {
  res.send('hello')
})
const server = app.listen(0, '127.0.0.1', () => process.send!('ready'))

process.on('message', (command: 'tell' | 'stop') => {
  if (command === 'stop') process.exit()
  const { user, system } = process.cpuUsage()
  process.send!({ port: (server.address() as AddressInfo).port, cpuUs: user + system } satisfies HelloAnswer)
})
