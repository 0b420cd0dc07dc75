import { describe, expect, it } from 'vitest'
import { universal, type QueueNews } from '../../src/http/sseFormat.js'

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
