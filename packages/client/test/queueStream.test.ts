import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { readQueueStream, type Turn } from '../src/queueStream.js'
import type { Place } from '../src/queueEvent.js'
import { finalEvent, refusalBody, universalPost, wires } from './wire.js'

interface Reading {
  readonly turn: Turn
  readonly places: readonly Place[]
  /** The body that is left, byte for byte as latin1. */
  readonly left: string
}

/** Reads a stream that comes in such pieces. */
async function read(pieces: readonly Uint8Array[], end: 'close' | 'break' = 'close'): Promise<Reading> {
  const places: Place[] = []
  const queue = [...pieces]
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const piece = queue.shift()
      if (piece !== undefined) controller.enqueue(new Uint8Array(piece))
      else if (end === 'close') controller.close()
      else controller.error(new TypeError('terminated'))
    },
  })
  const turn = await readQueueStream(body, (place) => places.push(place))
  const left = turn.kind === 'stream' ? Buffer.from(await new Response(turn.body).arrayBuffer()).toString('latin1') : ''
  return { turn, places, left }
}

/** A stream that brings these pieces and stays open. */
const open = (...pieces: Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new Uint8Array(piece))
    },
  })

const whole = (text: string): Uint8Array[] => [Buffer.from(text)]
const inSingleBytes = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

/** What handlers send, among it what looks like the queue's. */
const answers = [
  'data: Hello\n\ndata: [DONE]\n\n',
  'data: Grüße 🎉\r\n\r\n',
  '\n\n\n',
  ':\n\n: connected\n\ndata: 1\n\n',
  'id: q:mine\nevent: queue\ndata: {"type":"data-queue"}\n\n',
  'event: queue\ndata: not json\n\n',
  ': queue of mine\n\n',
  'id:\ndata: 1\n\n',
  'event: error\ndata: {"type":"error","errorText":"mine"}\n\n',
  'id: q:e',
  'i',
  '',
]

describe.each(wires)('A stream of the form $form', (wire) => {
  const wait = `${wire.waiting(2)}${wire.heartbeat}${wire.waiting(null)}${wire.heartbeat}${wire.heartbeat}${wire.admitted}`

  it.each(answers)('gives what the handler sent, byte for byte, however it is cut: %j', async (answer) => {
    const bytes = Buffer.from(wait + answer)
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { turn, places, left } = await read([bytes.subarray(0, cut), bytes.subarray(cut)])
      expect(turn.kind).toBe('stream')
      expect(left).toBe(latin1(answer))
      expect(places.map(({ position }) => position)).toEqual([2, null, 0])
    }
    expect((await read(inSingleBytes(wait + answer))).left).toBe(latin1(answer))
  })

  it('tells place, estimate and ticket', async () => {
    const { places } = await read(whole(wait))
    expect(places).toEqual([
      { state: 'waiting', position: 2, etaMs: 2000, ticket: 't1' },
      { state: 'waiting', position: null, etaMs: null, ticket: 't1' },
      { state: 'admitted', position: 0, etaMs: 0, ticket: 't1' },
    ])
  })

  it('finds the answer that came as one event, and whose it was, however it is cut', async () => {
    const refused = wire.waiting(1) + wire.heartbeat + finalEvent(503, { body: refusalBody('FQ_WAIT_TIMEOUT', 5) })
    const answered = wait + finalEvent(200, { body: { text: 'Grüße' } })
    for (const pieces of [whole, inSingleBytes]) {
      expect((await read(pieces(refused))).turn).toMatchObject({
        kind: 'late',
        admitted: false,
        answer: { status: 503, body: { code: 'FQ_WAIT_TIMEOUT' } },
      })
      expect((await read(pieces(answered))).turn).toMatchObject({
        kind: 'late',
        admitted: true,
        answer: { status: 200, body: { text: 'Grüße' } },
      })
    }
  })

  it('is broken when it ends while the request waits, in whatever way, with the ticket that was told last', async () => {
    for (const end of ['close', 'break'] as const) {
      for (const text of [
        wire.waiting(1, 't2'),
        wire.waiting(1, 't2') + wire.heartbeat,
        wire.waiting(1, 't2') + 'eve',
      ]) {
        const { turn } = await read(whole(text), end)
        expect(turn).toEqual({ kind: 'broken', ticket: 't2', error: expect.any(TypeError) as TypeError })
      }
    }
  })

  it("is the handler's once the turn has come, also when it breaks before the first byte", async () => {
    await expect(read(whole(wait), 'break')).rejects.toThrow('terminated')
  })
})

describe('A stream that no queue has begun', () => {
  it.each(answers)('passes byte for byte, however it is cut: %j', async (answer) => {
    for (const pieces of [whole, inSingleBytes]) {
      const { turn, places, left } = await read(pieces(answer))
      expect(turn.kind).toBe('stream')
      expect(places).toEqual([])
      expect(left).toBe(latin1(answer))
    }
  })

  it.each(['data', 'd', ':\n\n', ': hello', 'event: token\n', 'id: 1', '\n'])(
    'passes at once, without waiting for more: %j',
    async (text) => {
      const turn = await readQueueStream(open(Buffer.from(text)), () => {})
      expect(turn.kind).toBe('stream')
    },
  )

  it('breaks where it breaks', async () => {
    await expect(read(whole('data: 1\n\n'), 'break')).rejects.toThrow('terminated')
    await expect(read([], 'break')).rejects.toThrow('terminated')
  })
})

describe('A stream that a queue has begun', () => {
  it('passes when somebody else answers in the middle of the wait', async () => {
    const { left, places } = await read(whole(`${universalPost.waiting(1)}data: sorry\n\n`))
    expect(left).toBe('data: sorry\n\n')
    expect(places).toHaveLength(1)
  })

  it('is not kept in memory without a bound when a block never ends', async () => {
    const pieces = [Buffer.from('event: queue\ndata: '), ...Array.from({ length: 8 }, () => Buffer.alloc(1 << 18, 'x'))]
    // It does not end either.
    const turn = await readQueueStream(open(...pieces), () => {})
    expect(turn.kind).toBe('stream')
  })

  it.each(['d', 'id: q:m', 'event: queue\n', ':\n', ': queue {', '\n'])(
    'passes at once when the turn has come, without waiting for more: %j',
    async (text) => {
      const turn = await readQueueStream(open(Buffer.from(universalPost.admitted + text)), () => {})
      expect(turn.kind).toBe('stream')
    },
  )

  it("is left when the listener throws, and the listener's error is what comes of it", async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(universalPost.waiting(1))),
      cancel: () => void (cancelled = true),
    })
    const mistake = new Error('mine')
    const reading = readQueueStream(body, () => {
      throw mistake
    })
    await expect(reading).rejects.toBe(mistake)
    expect(cancelled).toBe(true)
  })
})
