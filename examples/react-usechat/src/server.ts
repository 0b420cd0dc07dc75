import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { build } from 'vite'
import { fairQueue } from '@fairqueue/express'
import { answer } from './answer.js'

const { PORT = '3000', HOST = '127.0.0.1', CONCURRENCY = '1', MAX_QUEUE_SIZE = '100' } = process.env

const page = fileURLToPath(new URL('../dist/page', import.meta.url))
await build({
  configFile: false,
  root: fileURLToPath(new URL('../page', import.meta.url)),
  logLevel: 'error',
  build: { outDir: page, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
})

const line = fairQueue({
  concurrency: Number(CONCURRENCY),
  maxQueueSize: Number(MAX_QUEUE_SIZE),
  maxWaitMs: '5m',
})

const app = express().disable('x-powered-by')
app.use(express.static(page))
app.use('/api', (_req, res, next) => {
  // The AI SDK's mark. A handler could not set it any more once the wait has been told of.
  res.set('x-vercel-ai-ui-message-stream', 'v1')
  next()
})
app.post('/api/chat', express.json({ limit: '1mb' }), line, (req, res) => answer(res, req.fairQueue.signal))
app.get('/status', async (_req, res) => void res.json(await line.queue.status()))

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  console.log(`http://${HOST}:${(server.address() as AddressInfo).port}: ${CONCURRENCY} at a time`)
})

const close = async (): Promise<void> => {
  server.close()
  await line.close({ graceMs: '5s' })
  server.closeAllConnections()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
