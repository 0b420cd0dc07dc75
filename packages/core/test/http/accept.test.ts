import { describe, expect, it } from 'vitest'
import { asksForEventStream } from '../../src/http/accept.js'

describe('asksForEventStream', () => {
  it.each([
    'text/event-stream',
    'TEXT/Event-Stream',
    'text/event-stream, */*',
    'text/event-stream, text/*;q=0.9, */*;q=0.1',
    'text/event-stream;charset=utf-8',
    'application/json;q=0.9, text/event-stream',
    'text/event-stream;q=0.5, application/json;q=0.4',
    'text/event-stream;q=0.001',
    'text/event-stream;q=0.2, application/json;q=0',
    'text/event-stream ; q=1.000 , text/html ; q=0.999',
    'application/x;note="a, text/html", text/event-stream;q=0.1, application/x;q=0'.replace(
      'application/x;note',
      'image/*;note',
    ),
  ])('says yes to %s', (accept) => {
    expect(asksForEventStream(accept)).toBe(true)
  })

  it.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/json, text/event-stream',
    'text/event-stream, application/json',
    'text/event-stream;q=0.5, application/json',
    'text/event-stream;q=0',
    'text/event-stream;q=0.000',
    'text/event-stream;q=2',
    'text/event-stream;q=',
    'text/event-stream;q=0.1234',
    'text/event-streams',
    'application/x;note="text/event-stream"',
    'image/png;q=1;note=";q=0", text/event-stream',
    `text/event-stream, ${'*/*;q=0.1, '.repeat(200)}`,
    `text/event-stream, "${'\\"'.repeat(300)}`,
  ])('says no to %s', (accept) => {
    expect(asksForEventStream(accept)).toBe(false)
  })
})
