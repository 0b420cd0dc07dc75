import { describe, expect, it } from 'vitest'
import { askForEvents } from '../src/accept.js'
// The server's own judgement of it.
import { asksForEventStream } from '../../core/src/http/accept.js'

describe('Accept', () => {
  it.each([
    [undefined, 'text/event-stream,*/*;q=0.9'],
    ['*/*', 'text/event-stream,*/*;q=0.9'],
    ['application/json', 'text/event-stream,application/json;q=0.9'],
    ['text/html, application/json;q=0.5', 'text/event-stream,text/html;q=0.9, application/json;q=0.5'],
  ])('%j becomes %j, which a server takes for a wish to be told', (given, sent) => {
    const headers = new Headers(given === undefined ? {} : { accept: given })
    askForEvents(headers)
    expect(headers.get('accept')).toBe(sent)
    expect(asksForEventStream(sent)).toBe(true)
  })

  it.each(['text/event-stream', 'application/json, text/event-stream', 'text/event-stream;q=0, application/json'])(
    '%j has been decided on by the caller and stays',
    (given) => {
      const headers = new Headers({ accept: given })
      askForEvents(headers)
      expect(headers.get('accept')).toBe(given)
    },
  )
})
