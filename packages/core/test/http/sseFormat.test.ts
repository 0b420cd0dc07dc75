import { describe, expect, it } from 'vitest'
import { comment, plain, universal, type QueueNews } from '../../src/http/sseFormat.js'

const waiting: QueueNews = { state: 'waiting', position: 3, etaMs: 12_000, ticket: 'abc' }

const data = (inner: string): string =>
  `data: {"type":"data-queue","id":"queue","transient":true,"data":${inner},"object":"chat.completion.chunk","created":0,"model":"queue","choices":[{"index":0,"delta":{},"finish_reason":null}]}\n\n`

describe('the universal format', () => {
  it('writes one event with exactly these bytes', () => {
    expect(universal.news(waiting, null)).toBe(
      `event: queue\n${data('{"state":"waiting","position":3,"etaMs":12000,"ticket":"abc"}')}`,
    )
  })

  it('puts an id before it, or resets the last one', () => {
    expect(universal.news(waiting, 'q:abc')).toBe(`id: q:abc\n${universal.news(waiting, null)}`)
    expect(universal.news(waiting, '')).toBe(`id:\n${universal.news(waiting, null)}`)
  })

  it('says null for what is not known', () => {
    expect(universal.news({ ...waiting, position: null, etaMs: null }, null)).toContain('"position":null,"etaMs":null')
  })

  it('beats with a comment of one line end', () => {
    expect(universal.heartbeat).toBe(':\n')
  })
})

describe('the plain format', () => {
  it('writes the news alone, with exactly these bytes', () => {
    const event = 'event: queue\ndata: {"state":"waiting","position":3,"etaMs":12000,"ticket":"abc"}\n\n'
    expect(plain.news(waiting, null)).toBe(event)
    expect(plain.news(waiting, 'q:abc')).toBe(`id: q:abc\n${event}`)
    expect(plain.news(waiting, '')).toBe(`id:\n${event}`)
    expect(plain.heartbeat).toBe(':\n')
  })
})

describe('the comment format', () => {
  it('writes comments only, with exactly these bytes, and never an id', () => {
    const text = ': queue {"state":"waiting","position":3,"etaMs":12000,"ticket":"abc"}\n\n'
    for (const eventId of [null, 'q:abc', '']) expect(comment.news(waiting, eventId)).toBe(text)
    expect(comment.heartbeat).toBe(':\n\n')
  })

  it('keeps line ends within its line', () => {
    expect(comment.news({ ...waiting, ticket: 'a\r\nevent: x\ndata: y\n\n' }, null)).toBe(
      ': queue {"state":"waiting","position":3,"etaMs":12000,"ticket":"a\\r\\nevent: x\\ndata: y\\n\\n"}\n\n',
    )
  })
})
