import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { Redis } from 'ioredis'
import multer from 'multer'
import { MemoryStore } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { clientAddress, continueOnRead, createFairQueue } from '@fairqueue/express'
import { report } from './report.js'
import { scan } from './scan.js'
import { closeOnSignals } from './shutdown.js'

const {
  PORT = '3000',
  HOST = '127.0.0.1',
  CONCURRENCY = '2',
  MAX_WAIT = '20s',
  SCAN_MS = '2000',
  REDIS_URL,
} = process.env

const redis = REDIS_URL ? new Redis(REDIS_URL) : null
redis?.on('error', (error) => console.error('Redis:', error.message))

const fairQueue = createFairQueue({
  store: redis ? new RedisStore({ redis }) : new MemoryStore(),
  keyGenerator: clientAddress(),
})
const reports = fairQueue({ name: 'reports', concurrency: Number(CONCURRENCY), maxWaitMs: '5m' })
// A line of its own: no upload takes the place of a report. Who has waited in vain is refused with 429 and comes back later.
const uploads = fairQueue({ name: 'uploads', concurrency: Number(CONCURRENCY), maxWaitMs: MAX_WAIT, upload: true })

const folder = await mkdtemp(join(tmpdir(), 'uploads-'))
const parser = multer({ dest: folder, limits: { fileSize: 1024 ** 3 } })

const app = express().disable('x-powered-by')
app.use(express.static(fileURLToPath(new URL('../public', import.meta.url))))

app.get('/report', reports, report)

// The queue before the parser: while a request waits, its file stays with its sender.
app.post('/files', uploads, parser.single('file'), async (req, res) => {
  if (req.file === undefined) {
    res.status(400).json({ detail: 'There is no file in the field "file".' })
    return
  }
  const { path, originalname, size } = req.file
  const { signal } = req.fairQueue
  try {
    res.json({ name: originalname, size, sha256: await scan(path, Number(SCAN_MS), signal) })
  } catch (error) {
    // Whose sender has left needs no answer.
    if (!signal.aborted) throw error
    res.end()
  } finally {
    await rm(path)
  }
})

app.get('/status', async (_req, res) => {
  res.json({ reports: await reports.queue.status(), uploads: await uploads.queue.status() })
})

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error
  const { port } = server.address() as AddressInfo
  console.log(`http://${HOST}:${port}: ${CONCURRENCY} uploads at a time, line in ${redis ? 'Redis' : 'memory'}`)
})
continueOnRead(server)
closeOnSignals(server, [reports, uploads], async () => {
  redis?.disconnect()
  await rm(folder, { recursive: true })
})
