import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Admitted, FairQueueCore, Gate, GateOptions, Visit } from '@fairqueue/core/http'
import { openGate, sendAnswer } from '@fairqueue/core/http'
import { serve, serveHttp2 } from './server.js'

type Handler = (req: IncomingMessage, res: ServerResponse) => unknown

/** What became of a request at the gate. */
type Outcome = 'proceeded' | 'refused' | 'left' | 'failed'

function open(options: GateOptions<IncomingMessage>): { gate: Gate<IncomingMessage>; queue: FairQueueCore } {
  const gate = openGate({ statusDelayMs: 0, ...options })
  onTestFinished(() => gate.close({ graceMs: 0 }))
  return { gate, queue: gate.queue! }
}

async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(met, { interval: 2, timeout: 5000 }).toBe(true)
}

/**
 * An adapter of the kind whose framework awaits its middlewares and keeps headers of its own: nothing in the gate knows.
 * @returns what became of the request, once the handler is done
 */
async function pass(
  gate: Gate<IncomingMessage>,
  req: IncomingMessage,
  res: ServerResponse,
  handler: Handler,
  earlierHeaders: OutgoingHttpHeaders = {},
): Promise<Outcome> {
  let handlerDone: (() => void) | undefined
  const outcome = await new Promise<Outcome>((resolve) => {
    const visit: Visit<IncomingMessage> = {
      request: req,
      req,
      res,
      tellsHandlerEnd: true,
      earlierHeaders: () => earlierHeaders,
      proceed: (admitted) => {
        handlerDone = () => admitted.handlerDone()
        resolve('proceeded')
      },
      refuse: (_refusal, answer) => {
        sendAnswer(req, res, answer)
        resolve('refused')
      },
      answer: (answer) => {
        sendAnswer(req, res, answer)
        resolve('left')
      },
      leave: () => resolve('left'),
      fail: () => resolve('failed'),
    }
    gate.handle(visit)
  })
  if (outcome !== 'proceeded') return outcome
  try {
    await handler(req, res)
  } finally {
    handlerDone!()
  }
  return outcome
}

describe('A gate behind an adapter that awaits', () => {
  it('lets a request in, and holds its place until both the handler and the response are done', async () => {
    const { gate, queue } = open({ concurrency: 1 })
    let finish = (): void => undefined
    const work = new Promise<void>((resolve) => (finish = resolve))
    const outcomes: Outcome[] = []
    const server = await serve(async (req, res) => {
      outcomes.push(
        await pass(gate, req, res, async () => {
          res.end('done')
          await work
        }),
      )
    })
    const client = (await server.connect()).request('GET', '/')
    await client.response()
    expect((await queue.status()).running).toBe(1)
    finish()
    await until(async () => (await queue.status()).running === 0)
    expect(outcomes).toEqual(['proceeded'])
    client.leave()
  })

  it('counts a request once that comes through two gates of one queue, until the outer handler is done', async () => {
    const { gate, queue } = open({ concurrency: 1, logger: { warn: () => undefined } })
    const inner = openGate<IncomingMessage>({ queue })
    let finish = (): void => undefined
    const work = new Promise<void>((resolve) => (finish = resolve))
    const outcomes: Outcome[] = []
    const server = await serve((req, res) =>
      pass(gate, req, res, async () => {
        outcomes.push(await pass(inner, req, res, () => res.end('done')))
        await work
      }),
    )
    const client = (await server.connect()).request('GET', '/')
    await client.response()
    await until(() => outcomes.length === 1)
    expect([outcomes, (await queue.status()).running]).toEqual([['proceeded'], 1])
    finish()
    await until(async () => (await queue.status()).running === 0)
    expect((await queue.status()).grants).toBe(1)
    client.leave()
  })

  it('sends headers that are kept elsewhere with the early head', async () => {
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message) }
    const { gate, queue } = open({ concurrency: 1, sse: 'always', logger })
    const server = await serve((req, res) => {
      void pass(
        gate,
        req,
        res,
        () => res.writeHead(200, { 'X-Elsewhere': '1', 'Content-Type': 'text/event-stream' }).end('data: a\n\n'),
        { 'X-Elsewhere': '1' },
      )
    })
    const holder = await queue.acquire()
    const client = (await server.connect()).request('GET', '/')
    await client.until('event: queue')
    await holder.release()
    const response = await client.response()
    expect(response.header('x-elsewhere')).toBe('1')
    expect(response.body).toMatch(/"admitted".*\n\ndata: a\n\n$/)
    expect(warnings).toEqual([])
    client.leave()
  })

  it.each<[string, (queue: FairQueueCore, client: { leave(): void }) => unknown, Outcome]>([
    ['its client goes', (_queue, client) => client.leave(), 'left'],
    ['the queue is closed', (queue) => void queue.close({ graceMs: 0 }), 'refused'],
  ])('settles a waiting request when %s, so that outer layers can finish', async (_what, act, outcome) => {
    const { gate, queue } = open({ concurrency: 1 })
    const outcomes: Outcome[] = []
    const server = await serve(async (req, res) => {
      outcomes.push(await pass(gate, req, res, () => res.end('ran')))
    })
    await queue.acquire()
    const client = (await server.connect()).request('GET', '/')
    await until(async () => (await queue.status()).waiting === 1)
    act(queue, client)
    await until(() => outcomes.length === 1)
    expect(outcomes).toEqual([outcome])
    client.leave()
  })

  it('does not take a place for a client that has gone while its key was looked up', async () => {
    let know = (_key: string): void => undefined
    const { gate, queue } = open({ concurrency: 1, keyGenerator: () => new Promise((resolve) => (know = resolve)) })
    const outcomes: Outcome[] = []
    let closed = false
    const server = await serve(async (req, res) => {
      res.on('close', () => (closed = true))
      outcomes.push(await pass(gate, req, res, () => res.end('ran')))
    })
    const client = (await server.connect()).request('GET', '/')
    await new Promise((resolve) => setTimeout(resolve, 20))
    client.leave()
    await until(() => closed)
    know('ann')
    await until(() => outcomes.length === 1)
    expect(outcomes).toEqual(['left'])
    expect((await queue.status()).grants).toBe(0)
  })
})

describe('A gate behind an adapter that learns of the handler only after it let the request in', () => {
  const openLate = async (
    act: (visit: { tellsHandlerEnd: boolean; res: ServerResponse }, admitted: Admitted) => void,
  ) => {
    const { gate, queue } = open({ concurrency: 1, abortGraceMs: '1m' })
    const server = await serve((req, res) => {
      const visit = {
        request: req,
        req,
        res,
        tellsHandlerEnd: false,
        proceed: (admitted: Admitted) => act(visit, admitted),
        refuse: () => undefined,
        answer: () => undefined,
        leave: () => undefined,
        fail: () => undefined,
      }
      gate.handle(visit)
    })
    return { queue, client: await server.connect() }
  }

  it('frees the place with the response when no handler ever runs', async () => {
    const { queue, client } = await openLate(({ res }) => res.end('somebody else'))
    expect((await client.request('GET', '/').response()).body).toBe('somebody else')
    await until(async () => (await queue.status()).running === 0)
    client.leave()
  })

  it('holds the place until a handler that turned up is done', async () => {
    let finish = (): void => undefined
    const { queue, client } = await openLate((visit, admitted) => {
      visit.tellsHandlerEnd = true
      finish = () => admitted.handlerDone()
      visit.res.end('done')
    })
    await client.request('GET', '/').response()
    client.leave()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await queue.status()).running).toBe(1)
    finish()
    expect((await queue.status()).running).toBe(0)
  })

  it('holds the place until the response ends when the handler turned out to be of the kind that does not tell', async () => {
    let response: ServerResponse | undefined
    let gone = false
    const { queue, client } = await openLate((visit, admitted) => {
      response = visit.res
      response.on('close', () => (gone = true)).write('begun')
      visit.tellsHandlerEnd = true
      visit.tellsHandlerEnd = false
      admitted.handlerDone()
    })
    await client.request('GET', '/').until('begun')
    client.leave()
    await until(() => gone)
    expect((await queue.status()).running).toBe(1)
    response!.end()
    expect((await queue.status()).running).toBe(0)
  })
})

describe('A gate on HTTP/2', () => {
  it('lets in, refuses without a Connection header, and tells of the wait', async () => {
    const { gate, queue } = open({ concurrency: 1, sse: 'always' })
    const request = await serveHttp2((req, res) => {
      void pass(gate, req, res, () => res.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: a\n\n'))
    })
    const first = request('/')
    await first.ended
    expect(first.received()).toBe('data: a\n\n')
    const holder = await queue.acquire()
    const waiting = request('/')
    await until(() => waiting.received().includes('"state":"waiting"'))
    await holder.release()
    await waiting.ended
    expect(waiting.received()).toMatch(/"state":"admitted"[^\n]*\n\ndata: a\n\n$/)
    await gate.close()
    const refused = request('/')
    await refused.ended
    expect([refused.status(), refused.received()]).toEqual([503, expect.stringContaining('FQ_DRAINING')])
  })

  it.each([
    ['silently', 'never'],
    ['told of its wait', 'always'],
  ] as const)('B33: takes a reset stream for gone while it waits %s', async (_how, sse) => {
    const { gate, queue } = open({ concurrency: 1, sse })
    const outcomes: Outcome[] = []
    const request = await serveHttp2((req, res) => {
      void pass(gate, req, res, () => res.end('ran')).then((outcome) => outcomes.push(outcome))
    })
    const holder = await queue.acquire()
    const waiting = request('/')
    await until(async () => (await queue.status()).waiting === 1)
    if (sse === 'always') await until(() => waiting.received().includes('event: queue'))
    waiting.reset()
    await until(async () => (await queue.status()).waiting === 0)
    await holder.release()
    expect(outcomes).toEqual(['left'])
    expect((await queue.status()).running).toBe(0)
  })

  it('B27: aborts the signal for a reset stream, and for no other', async () => {
    const { gate, queue } = open({ concurrency: 2 })
    const aborted: string[] = []
    const request = await serveHttp2((req, res) => {
      const visit: Visit<IncomingMessage> = {
        request: req,
        req,
        res,
        tellsHandlerEnd: false,
        proceed: ({ signal }) => {
          signal.addEventListener('abort', () => aborted.push(req.url!))
          if (req.url === '/fine') res.end('done')
          else res.write('begun')
        },
        refuse: () => undefined,
        answer: () => undefined,
        leave: () => undefined,
        fail: () => undefined,
      }
      gate.handle(visit)
    })
    const fine = request('/fine')
    await fine.ended
    const cut = request('/cut')
    await until(() => cut.received() === 'begun')
    cut.reset()
    await until(() => aborted.length === 1)
    expect(aborted).toEqual(['/cut'])
    expect((await queue.status()).running).toBe(1)
  })
})
