import { readQueueEvent, type LateAnswer, type Place } from './queueEvent.js'

/** How the wait that a stream tells of has ended. */
export type Turn =
  /** The handler's own stream, from its first byte. */
  | { readonly kind: 'stream'; readonly body: ReadableStream<Uint8Array<ArrayBuffer>> }
  /** An answer of another kind; the queue's refusal unless the request was admitted before. */
  | { readonly kind: 'late'; readonly answer: LateAnswer; readonly admitted: boolean }
  /** The connection broke while the request waited. */
  | { readonly kind: 'broken'; readonly ticket: string | undefined; readonly error: unknown }

const NEWS = ['event: queue\n', 'id: q:', ': queue {'] as const

/**
 * What the queue's blocks begin with. Nothing else is ever looked into, and none comes after `admitted` but an answer that had to become one
 * event, so what a handler streams passes byte for byte and without delay.
 */
const BEGINNINGS = {
  unknown: NEWS,
  waiting: [...NEWS, 'id:\nevent: queue\n'],
  admitted: ['id: q:end\n'],
} as const

/** Heartbeats; in the form with comments each has a blank line. */
const HEARTBEATS = { unknown: /^(:\n)*/, waiting: /^(:\n+)*/, admitted: /^/ } as const

/** No block of the queue is longer: a handler's answer that has to fit into one is cut long before. */
const LONGEST_BLOCK = 1 << 20

/** Decodes to one character per byte, so that places in the text are places in the bytes. */
const bytewise = new TextDecoder('latin1')
const utf8 = new TextDecoder()

/** Reads a stream of events until the wait that it tells of is over, if it tells of any. Never rejects but with what `tell` throws. */
export async function readQueueStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  tell: (place: Place) => void,
): Promise<Turn> {
  const reader = body.getReader()
  let stage: keyof typeof BEGINNINGS = 'unknown'
  let ticket: string | undefined
  let bytes = new Uint8Array()
  const rest = (): Turn => ({ kind: 'stream', body: restOf(bytes, reader) })
  for (;;) {
    const text = bytewise.decode(bytes)
    const start = HEARTBEATS[stage].exec(text)![0].length
    const isOurs = BEGINNINGS[stage].some((it) => it.startsWith(text.slice(start, start + it.length)))
    const end = text.indexOf('\n\n', start) + 2
    if (!isOurs || text.length > LONGEST_BLOCK) return rest()
    if (end < 2) {
      try {
        const { done, value } = await reader.read()
        if (!done) bytes = bytes.length === 0 ? value : new Uint8Array([...bytes, ...value])
        else if (stage !== 'waiting') return rest()
        else throw new TypeError('The stream ended before the turn came.')
      } catch (error) {
        return stage === 'waiting' ? { kind: 'broken', ticket, error } : rest()
      }
      continue
    }
    const event = readQueueEvent(utf8.decode(bytes.subarray(start, end)))
    if (event === undefined) return rest()
    bytes = bytes.slice(end)
    if (!('state' in event)) return { kind: 'late', answer: event, admitted: stage === 'admitted' }
    stage = event.state
    ticket = event.ticket
    try {
      tell(event)
    } catch (error) {
      // Nobody is going to read on: the connection, and with it the place, must not stay.
      reader.cancel().catch(() => {})
      throw error
    }
  }
}

/** What was read but is not ours, then whatever comes. */
function restOf(
  bytes: Uint8Array<ArrayBuffer>,
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes)
      },
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is fetched ahead of whoever reads.
    { highWaterMark: 0 },
  )
}
