import { Module, type MiddlewareConsumer, type NestModule, type OnApplicationShutdown } from '@nestjs/common'
import { Redis } from 'ioredis'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/express'
import { AnswersService } from './answers.service.js'
import { Lines } from './lines/lines.js'
import { ModelController } from './model.controller.js'
import { SearchController } from './search.controller.js'
import { StatusController } from './status.controller.js'

const { CONCURRENCY = '2', MAX_QUEUE_SIZE = '100', REDIS_URL } = process.env

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const limits = {
  store: redis ? new RedisStore({ redis }) : new MemoryStore(),
  concurrency: Number(CONCURRENCY),
  maxQueueSize: Number(MAX_QUEUE_SIZE),
}
const lines = new Lines(limits, { model: { maxWaitMs: '5m' }, reports: {}, search: {} })

@Module({
  controllers: [ModelController, SearchController, StatusController],
  providers: [AnswersService, { provide: Lines, useValue: lines }],
})
export class AppModule implements NestModule, OnApplicationShutdown {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(fairQueue({ queue: lines.queue('search') })).forRoutes(SearchController)
  }

  /** The lines have closed, and the server has. */
  onApplicationShutdown(): void {
    redis?.disconnect()
  }
}
