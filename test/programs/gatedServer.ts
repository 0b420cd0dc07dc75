// One of several servers that share a line. `/work` begins to answer and goes on until `/finish`; `/status` and `/configure` as they say.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue } from '@fairqueue/express'
import { Redis } from 'ioredis'

type Middleware = (req: IncomingMessage, res: ServerResponse, next: () => void) => void

const [, , port, options = '{}'] = process.argv
const redis = new Redis(Number(port))
const gate = fairQueue({
  name: 'site',
  store: new RedisStore({ redis }),
  concurrency: 1,
  maxWaitMs: '5m',
  bootGraceMs: 0,
  ...(JSON.parse(options) as object),
})
const { queue } = gate
const working: ServerResponse[] = []

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url!, 'http://server')
  if (pathname === '/work') {
    ;(gate as unknown as Middleware)(req, res, () => {
      const { lease } = (req as unknown as { fairQueue: { lease: object | null } }).fairQueue
      res.write(lease === null ? 'passed' : 'counted')
      working.push(res)
    })
  } else if (pathname === '/finish') {
    for (const response of working.splice(0)) response.end()
    res.end()
  } else if (pathname === '/configure') {
    void queue.configure({ enabled: searchParams.get('enabled') === 'true' }).then(() => res.end())
  } else {
    // What this process goes by may be older than what the store knows.
    const { enabled } = queue.settings
    void queue.status().then((status) => res.end(JSON.stringify({ ...status, enabled })))
  }
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
