import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import express, { type Response } from 'express'
import { findRedis } from './redis.js'
import { ServerProcess } from './serverProcess.js'
import { Visitors } from './visitors.js'

// All of it in one command: a Redis, the servers, visitors for them, and a page to watch.
const { PORT = '3000', HOST = '127.0.0.1', SERVERS = 'A B' } = process.env

const SHOW_EVERY_MS = 200
const MOST_VISITORS = 100

const redis = await findRedis().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
const servers = SERVERS.split(/\s+/).map((name) => new ServerProcess(name, redis.url))
const visitors = new Visitors()
await Promise.all(servers.map((server) => server.start()))

/** The line as one of the living servers sees it; null when none does. */
async function readStatus(): Promise<unknown> {
  for (const { url } of servers) {
    if (url === null) continue
    try {
      return await (await fetch(`${url}/status`, { signal: AbortSignal.timeout(1000) })).json()
    } catch {
      // It has just died: the next one knows as much.
    }
  }
  return null
}

async function readState(): Promise<object> {
  return {
    redis: redis.title,
    servers: servers.map(({ name, url, pid }) => ({ name, url, pid })),
    line: await readStatus(),
    visitors: visitors.all,
  }
}

/** Sends the state whenever it has changed, until the page is closed. */
async function show(res: Response): Promise<void> {
  let shown = ''
  while (!res.closed) {
    const state = JSON.stringify(await readState())
    // A page that does not read gets the newest state when it does.
    if (state !== shown && !res.writableNeedDrain) {
      shown = state
      res.write(`data: ${state}\n\n`)
    }
    await sleep(SHOW_EVERY_MS)
  }
}

const app = express().disable('x-powered-by')
app.use(express.static(fileURLToPath(new URL('../public', import.meta.url))))

app.get('/state', async (_req, res) => {
  res.json(await readState())
})
app.get('/events', (_req, res) => {
  res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }).flushHeaders()
  void show(res)
})

// Ten visitors, one after the other, who go to the living servers by turns, as a load balancer would send them.
app.post('/visitors', async (_req, res) => {
  for (let i = 0; i < 10 && visitors.size < MOST_VISITORS; i += 1) {
    const living = servers.filter(({ url }) => url !== null)
    const server = living[i % living.length]
    if (server?.url) visitors.arrive(server.name, server.url)
    await sleep(50)
  }
  res.status(204).end()
})

app.delete('/servers/:name', (req, res) => {
  servers.find(({ name }) => name === req.params.name)?.kill()
  res.status(204).end()
})
app.put('/servers/:name', async (req, res) => {
  await servers.find(({ name }) => name === req.params.name)?.start()
  res.status(204).end()
})

const page = createServer(app)
await once(page.listen(Number(PORT), HOST), 'listening')
const { port } = page.address() as AddressInfo
console.log(
  `http://${HOST}:${port}: servers ${servers.map(({ name }) => name).join(' and ')}, one line in ${redis.title}`,
)

async function close(): Promise<void> {
  page.close()
  page.closeAllConnections()
  visitors.leave()
  await Promise.all(servers.map((server) => server.stop()))
  await redis.stop()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
