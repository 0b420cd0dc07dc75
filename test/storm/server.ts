// One of several server processes of a storm: one route behind a queue that all share. Writes down all that happens to it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { FairQueue, isFairQueueError, type Ticket } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { fairQueue, type SharedQueueOptions } from '@fairqueue/express'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { Redis } from 'ioredis'
import { answerText } from './answerText.js'
import type { Inspection, StormTerms, TicketEnd } from './entry.js'
import { LogWriter, nowMs } from './log.js'

/** What a server is started with. */
export interface ServerConfig {
  readonly name: string
  readonly directory: string
  /** 0: any. */
  readonly port: number
  readonly storePort: number
  readonly terms: StormTerms
}

const LAG_LOOK_MS = 20
/** Shorter ones are noise. */
const LAG_MS = 60
const BIG_BYTES = 2 << 20

serve(JSON.parse(process.argv[2]!) as ServerConfig)

function serve({ name, directory, port, storePort, terms }: ServerConfig): void {
  const log = new LogWriter(directory, name)
  const trouble = (error: unknown): void =>
    log.note({ what: 'trouble', error: String(error instanceof Error ? error.stack : error) })
  process.on('uncaughtException', (error) => {
    trouble(error)
    process.exit(70)
  })
  process.on('unhandledRejection', trouble)
  process.on('warning', trouble)
  // A storm that is gone needs nobody.
  process.on('disconnect', () => process.exit())
  process.channel?.unref()

  let lookedAtMs = nowMs()
  setInterval(() => {
    const now = nowMs()
    if (now - lookedAtMs > LAG_LOOK_MS + LAG_MS) log.note({ what: 'lag', fromMs: lookedAtMs })
    lookedAtMs = now
  }, LAG_LOOK_MS).unref()

  const redis = new Redis(storePort, '127.0.0.1', {
    retryStrategy: () => 100,
    connectTimeout: 1000,
    // Else a command that was never answered would fail only after twenty attempts to connect.
    maxRetriesPerRequest: 1,
  })
  redis.on('error', () => undefined)
  const store = new RedisStore({ redis })

  let visits = 0
  const visitOf = new WeakMap<object, number>()
  let alone = false

  const queue = new FairQueue({
    name: 'storm',
    store,
    concurrency: terms.concurrency,
    maxQueueSize: 30,
    maxWaitMs: terms.maxWaitMs,
    leaseMs: terms.leaseMs,
    livenessMs: terms.livenessMs,
    storeTimeoutMs: terms.storeTimeoutMs,
    pollIntervalMs: 500,
    bootGraceMs: terms.livenessMs,
    statusIntervalMs: 100,
    logger: {
      warn: (message, { code, cause }) => log.note({ what: 'warned', code, message: `${message} ${String(cause)}` }),
    },
  })
  const options: SharedQueueOptions = {
    queue,
    maxWaitMs: (req) => Number(req.get('x-max-wait') ?? terms.maxWaitMs),
    permits: (req) => Number(req.get('x-permits') ?? 1),
    keyGenerator: (req) => req.get('x-client'),
    onRejected: (req, refusal) => log.note({ what: 'refused', visit: visitOf.get(req)!, code: refusal.code }),
    statusDelayMs: 50,
    heartbeatMs: 1000,
    resumeGraceMs: 3000,
    claimMs: 1500,
    sendGraceMs: 1000,
  }

  async function work(req: Request, res: Response): Promise<void> {
    const visit = visitOf.get(req)!
    const { lease, signal, ticket } = req.fairQueue
    log.note({
      what: 'began',
      visit,
      number: ticket?.split('.')[0] ?? null,
      fence: lease?.fence ?? 0,
      permits: lease?.permits ?? 0,
      counted: lease !== null,
      alone,
    })
    lease?.signal.addEventListener('abort', () => log.note({ what: 'lost', visit, cause: lease.loss?.lostBy ?? '' }))
    const request = req.get('x-request')!
    const streams = req.get('accept')?.includes('text/event-stream') === true
    if (streams) res.type('text/event-stream')
    const untilMs = nowMs() + Number(req.get('x-work'))
    while (nowMs() < untilMs && !signal.aborted) {
      await sleep(Math.min(100, untilMs - nowMs()))
      if (streams) res.write(': works\n\n')
    }
    if (req.get('x-big') !== undefined) res.write(Buffer.alloc(BIG_BYTES, ': big\n\n'))
    log.note({ what: 'ended', visit })
    res.end(answerText(request, signal.aborted ? 'interrupted' : 'served'))
  }

  const arrive: RequestHandler = (req, res, next) => {
    visits += 1
    const visit = visits
    visitOf.set(req, visit)
    const request = req.get('x-request') ?? ''
    log.note({ what: 'arrived', visit, request, resumes: req.get('fairqueue-ticket') !== undefined })
    res.on('close', () => log.note({ what: 'closed', visit, sent: res.writableFinished }))
    next()
  }

  watch(queue, log)
  queue.on('local', ({ limit }) => {
    alone = limit !== null
    log.note({ what: 'alone', share: limit })
  })
  queue.on('degraded', ({ degraded, cause }) => log.note({ what: 'degraded', degraded, cause: String(cause) }))
  queue.on('error', trouble)

  const app = express()
  app.disable('x-powered-by')
  // Two ways of the same queue: one that sees the handler's end, and one that does not.
  app.all('/wrapped', arrive, fairQueue.wrap(options, work))
  app.all('/mounted', arrive, fairQueue(options), (req, res, next) => void work(req, res).then(undefined, next))
  app.post('/configure', (req, res) => {
    queue.configure({ concurrency: Number(req.query['concurrency']) }, { by: name }).then(
      () => res.end('done'),
      (error: unknown) => res.status(503).end(isFairQueueError(error) ? error.code : String(error)),
    )
  })
  app.get('/inspect', (_req, res, next) => void inspect().then((inspection) => res.json(inspection), next))
  const server = createServer(app)

  async function inspect(): Promise<Inspection> {
    const connections = await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    // Twice: what is freed may free more.
    for (let round = 0; round < 2; round += 1) {
      globalThis.gc?.()
      await sleep(10)
    }
    const status = await queue.status()
    const resources: Record<string, number> = {}
    for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
    return {
      running: status.running,
      waiting: status.waiting,
      localRunning: status.local.running,
      localWaiting: status.local.waiting,
      localLimit: status.local.limit,
      degraded: status.degraded,
      wakeChannel: status.wakeChannel,
      heapBytes: process.memoryUsage().heapUsed,
      connections: connections - 1,
      listeners: { ...listenersOf('process', process), ...listenersOf('redis', redis) },
      resources,
    }
  }

  process.once('SIGTERM', () => {
    server.close()
    void queue.close({ graceMs: 2000 }).then(async () => {
      await store.close()
      redis.disconnect()
    })
  })
  server.listen(port, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}

/** Each ticket of whom an event tells gets a number, so that its ends can be counted. */
function watch(queue: FairQueue, log: LogWriter): void {
  const numbers = new WeakMap<Ticket, number>()
  let tickets = 0
  const note = (event: TicketEnd | 'granted', ticket: Ticket): void => {
    if (!numbers.has(ticket)) {
      tickets += 1
      numbers.set(ticket, tickets)
    }
    log.note({ what: 'ticket', ticket: numbers.get(ticket)!, event })
  }
  for (const event of ['granted', 'released', 'leaseLost', 'rejected', 'timedOut', 'cancelled', 'failed'] as const)
    queue.on(event, ({ ticket }) => note(event, ticket))
}

function listenersOf(emitter: string, it: NodeJS.EventEmitter): Record<string, number> {
  return Object.fromEntries(it.eventNames().map((event) => [`${emitter} ${String(event)}`, it.listenerCount(event)]))
}
