import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { AppModule } from './app.module.js'

const { PORT = '3000', HOST = '127.0.0.1', PLATFORM = 'express' } = process.env

const adapter = PLATFORM === 'fastify' ? new FastifyAdapter() : new ExpressAdapter()
const app = await NestFactory.create(AppModule, adapter, { logger: ['error', 'warn'] })
// On Ctrl-C or SIGTERM the modules close what they have opened, see `Lines` and `AppModule`.
app.enableShutdownHooks([], { useProcessExit: true })
await app.listen(Number(PORT), HOST)
console.log(`${await app.getUrl()}: NestJS on ${PLATFORM}; try /ask?question=…, /report and /status`)
