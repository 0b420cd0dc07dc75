import { PassThrough, Readable } from 'node:stream'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify'
import { describe, expect, it } from 'vitest'
import { FairQueue } from '@fairqueue/core'
import { fairQueue, type FairQueueHookName, type FairQueueRouteOptions } from '@fairqueue/fastify'
import type { RawClient } from '@fairqueue/test/kit/rawHttp'
import { closing, eventually, openSite, runningIs, waitingIs, type Site } from './site.js'

interface Setting {
  readonly handler: RouteHandlerMethod
  /** Of the plugin. */
  readonly options?: FairQueueRouteOptions
  readonly route?: RouteShorthandOptions
  readonly server?: FastifyServerOptions
}

interface Gated extends Site {
  readonly queue: FairQueue
  /** How long each place was held, one entry for each release. */
  readonly releases: number[]
  readonly warnings: string[]
}

/** A route at `/` behind a queue with one place, and at `/bare` without. */
async function openGate({ handler, options = {}, route = {}, server = {} }: Setting): Promise<Gated> {
  const queue = closing(new FairQueue({ concurrency: 1, leaseMs: options.leaseMs ?? '10m' }))
  const releases: number[] = []
  queue.on('released', ({ heldMs }) => releases.push(heldMs))
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg) }
  const { leaseMs: _leaseMs, ...http } = options
  const site = await openSite(
    async (app: FastifyInstance) => {
      await app.register(fairQueue, { global: false, ...http })
      app.all('/', { ...route, config: { fairQueue: { queue } } }, handler)
      app.all('/bare', { ...route, config: { fairQueue: false } }, handler)
    },
    { logger: { level: 'warn', stream }, ...server },
  )
  return { ...site, queue, releases, warnings }
}

/** What a client does with its one request. */
type Client = (client: RawClient, path: string) => unknown

const reads: Client = async (client, path) => {
  await client.request('GET', path).response()
}
const isCut: Client = async (client, path) => {
  await client.request('GET', path).closed
}

/** Ways in which a request can end: what the client does, and what it meets. */
const ends: readonly (readonly [string, Client, Setting])[] = [
  ['an answer', reads, { handler: (_request, reply) => reply.send('done') }],
  ['a value returned', reads, { handler: () => ({ done: true }) }],
  ['a value promised', reads, { handler: () => Promise.resolve('done') }],
  [
    'a throw',
    reads,
    {
      handler: () => {
        throw new Error('boom')
      },
    },
  ],
  ['a rejection', reads, { handler: () => Promise.reject(new Error('boom')) }],
  ['an error that is sent', reads, { handler: (_request, reply) => void reply.send(new Error('boom')) }],
  ['a stream', reads, { handler: (_request, reply) => reply.send(Readable.from(['a', 'b'])) }],
  [
    'raw.end()',
    reads,
    {
      handler: (_request, reply) => {
        setImmediate(() => reply.raw.end('done'))
      },
    },
  ],
  [
    'a hijacked reply',
    reads,
    {
      handler: async (_request, reply) => {
        reply.hijack()
        setImmediate(() => reply.raw.writeHead(200).end('done'))
      },
    },
  ],
  [
    'a stream that fails before its first byte',
    reads,
    { handler: (_request, reply) => reply.send(new Readable({ read: () => undefined }).destroy(new Error('boom'))) },
  ],
  [
    'a stream that fails after its first byte',
    isCut,
    {
      handler: (_request, reply) => {
        const stream = new Readable({ read: () => undefined })
        stream.push('first')
        setTimeout(() => stream.destroy(new Error('boom')), 20)
        return reply.send(stream)
      },
    },
  ],
  ['raw.destroy()', isCut, { handler: (_request, reply) => void setImmediate(() => reply.raw.destroy()) }],
  [
    'a client that leaves before the first byte',
    (client, path) => {
      client.request('GET', path)
      setTimeout(() => client.leave(), 30)
      return client.closed
    },
    { handler: () => new Promise((resolve) => setTimeout(resolve, 100)) },
  ],
  [
    'a client that leaves after the first byte',
    async (client, path) => {
      await client.request('GET', path).until('first')
      client.leave()
    },
    {
      handler: (_request, reply) => {
        const stream = new Readable({ read: () => undefined })
        stream.push('first')
        return reply.send(stream)
      },
    },
  ],
  [
    'a client that leaves during an onSend hook',
    (client, path) => {
      client.request('GET', path)
      setTimeout(() => client.leave(), 30)
      return client.closed
    },
    {
      handler: (_request, reply) => reply.send('done'),
      route: {
        onSend: async (_request, _reply, payload) => {
          await new Promise((resolve) => setTimeout(resolve, 100))
          return payload
        },
      },
    },
  ],
  [
    'a hook after the queue that answers',
    reads,
    {
      handler: () => 'never',
      route: {
        preHandler: async (request, reply) => {
          if (request.fairQueue !== null) await reply.code(401).send('who?')
        },
      },
    },
  ],
  [
    'a validation that fails',
    reads,
    {
      handler: () => 'never',
      route: { schema: { querystring: { type: 'object', required: ['question'] } } },
    },
  ],
  [
    'handlerTimeout',
    reads,
    {
      handler: () => new Promise((resolve) => setTimeout(() => resolve('late'), 100)),
      server: { handlerTimeout: 30 },
    },
  ],
]

describe.each<FairQueueHookName>(['onRequest', 'preHandler'])('A place taken in %s', (hook) => {
  it.each(ends)('B34: is given back exactly once after %s', async (_what, act, setting) => {
    const gate = await openGate({ ...setting, options: { hook, abortGraceMs: 0 } })
    const requested = async (path: string): Promise<string[]> => {
      const client = await gate.connect()
      await act(client, path)
      client.leave()
      // Whatever comes of it comes soon: nothing is to be sent, and so nothing given back, twice.
      await new Promise((resolve) => setTimeout(resolve, 120))
      return gate.warnings.splice(0)
    }
    const warnings = await requested('/')
    const { grants, running } = await gate.queue.status()
    expect([gate.releases.length, running]).toEqual([grants, 0])
    expect(warnings).toEqual((await requested('/bare')).map((warning) => warning.replace('/bare', '/')))
  })
})

describe('A place', () => {
  /** A handler that goes on until the test ends it. */
  const slowly = (begin: (reply: FastifyReply) => unknown) => {
    const runs: { request: FastifyRequest; reply: FastifyReply; finish: () => void }[] = []
    const handler: RouteHandlerMethod = async (request, reply) => {
      begin(reply)
      await new Promise<void>((resolve) => runs.push({ request, reply, finish: resolve }))
    }
    return { handler, runs }
  }

  const begin = (reply: FastifyReply): void => {
    reply.raw.writeHead(200).write('first')
  }

  /** The client of a request goes after the first byte. */
  const leave = async (gate: Gated): Promise<void> => {
    const client = (await gate.connect()).request('GET', '/')
    await client.until('first')
    client.leave()
  }

  it('is held until the last byte of a streamed answer', async () => {
    const streams: PassThrough[] = []
    const gate = await openGate({
      handler: (_request, reply) => {
        const stream = new PassThrough()
        streams.push(stream)
        stream.write('first')
        return reply.send(stream)
      },
    })
    const client = (await gate.connect()).request('GET', '/')
    await client.until('first')
    const next = gate.get('/')
    await waitingIs(gate.queue, 1)
    streams[0]!.write('second')
    await client.until('second')
    expect(streams).toHaveLength(1)
    streams[0]!.end('last')
    await eventually(() => streams.length).toBe(2)
    streams[1]!.end()
    expect((await next).body).toBe('first')
    client.leave()
  })

  it('whose client has gone is kept until the promise of the handler has settled, neither shorter nor longer', async () => {
    const { handler, runs } = slowly(begin)
    const gate = await openGate({ handler, options: { abortGraceMs: 0 } })
    await leave(gate)
    await eventually(() => runs[0]!.request.fairQueue.signal.aborted).toBe(true)
    runs[0]!.reply.raw.end()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await gate.queue.status()).running).toBe(1)
    runs[0]!.finish()
    await runningIs(gate.queue, 0)
  })

  it('is kept while a handler works on after its response', async () => {
    const { handler, runs } = slowly((reply) => void reply.send('done'))
    const gate = await openGate({ handler })
    expect((await gate.get('/')).body).toBe('done')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await gate.queue.status()).running).toBe(1)
    runs[0]!.finish()
    await runningIs(gate.queue, 0)
  })

  it('is kept for leaseMs at the most', async () => {
    const { handler, runs } = slowly(begin)
    const gate = await openGate({ handler, options: { leaseMs: 150 } })
    await leave(gate)
    await runningIs(gate.queue, 0)
    expect(runs).toHaveLength(1)
  })

  it.each<[string, (reply: FastifyReply) => unknown]>([
    ['returns nothing', (reply) => begin(reply)],
    [
      'returns the reply',
      (reply) => {
        begin(reply)
        return reply
      },
    ],
    [
      'has hijacked the reply, and settled',
      async (reply) => {
        reply.hijack()
        begin(reply)
      },
    ],
  ])(
    'whose client has gone is kept until raw.end(), or for abortGraceMs, by a handler that %s',
    async (_what, handle) => {
      const replies: FastifyReply[] = []
      const handler: RouteHandlerMethod = (_request, reply) => {
        replies.push(reply)
        return handle(reply)
      }
      const patient = await openGate({ handler, options: { abortGraceMs: '1m' } })
      await leave(patient)
      await eventually(() => replies[0]!.raw.closed).toBe(true)
      expect((await patient.queue.status()).running).toBe(1)
      replies[0]!.raw.end()
      expect((await patient.queue.status()).running).toBe(0)
      const short = await openGate({ handler, options: { abortGraceMs: 100 } })
      await leave(short)
      expect((await short.queue.status()).running).toBe(1)
      await runningIs(short.queue, 0)
    },
  )

  it('is given back by a stream whose client has gone, as Fastify destroys it', async () => {
    const gate = await openGate({
      handler: async () => {
        const stream = new PassThrough()
        stream.write('first')
        return stream
      },
      options: { abortGraceMs: '1m' },
    })
    await leave(gate)
    await runningIs(gate.queue, 0)
    expect(gate.releases).toHaveLength(1)
  })

  it('in each of several lines is held until the handler is done', async () => {
    const { handler, runs } = slowly((reply) => void reply.send('done'))
    const queues = [closing(new FairQueue({ concurrency: 1 })), closing(new FairQueue({ concurrency: 1 }))]
    const site = await openSite(async (app) => {
      await app.register(fairQueue, { global: false })
      app.get('/', { preHandler: queues.map((queue) => app.fairQueue({ queue })) }, handler)
    })
    await site.get('/')
    await new Promise((resolve) => setTimeout(resolve, 20))
    for (const queue of queues) expect((await queue.status()).running).toBe(1)
    runs[0]!.finish()
    for (const queue of queues) await runningIs(queue, 0)
  })

  it('B34: is taken and given back without a socket, too', async () => {
    const gate = await openGate({ handler: () => 'done' })
    expect((await gate.app.inject('/')).body).toBe('done')
    await runningIs(gate.queue, 0)
    const holder = await gate.queue.acquire()
    const waiting = gate.app.inject({ url: '/', headers: { accept: 'text/event-stream' } })
    await waitingIs(gate.queue, 1)
    await holder.release()
    expect((await waiting).body).toBe('done')
    await runningIs(gate.queue, 0)
  })

  it('Case 30, B34: is lost while it waits when handlerTimeout answers, and the handler does not run', async () => {
    let runs = 0
    const gate = await openGate({ handler: () => void (runs += 1), server: { handlerTimeout: 50 } })
    const holder = await gate.queue.acquire()
    expect((await gate.get('/')).status).toBe(503)
    await waitingIs(gate.queue, 0)
    await holder.release()
    await runningIs(gate.queue, 0)
    expect(runs).toBe(0)
    expect(gate.warnings).toEqual([expect.stringContaining('timed out')])
  })
})
