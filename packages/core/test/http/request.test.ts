import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { takeTicketId } from '../../src/http/lastEventId.js'
import { isPreflight } from '../../src/http/preflight.js'

function request(method: string, headers: Readonly<Record<string, string>>): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  req.method = method
  for (const [name, value] of Object.entries(headers)) {
    req.headers[name.toLowerCase()] = value
    req.rawHeaders.push(name, value)
  }
  return req
}

describe('isPreflight', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['OPTIONS', { 'Access-Control-Request-Method': 'POST' }, true],
    ['OPTIONS', { Origin: 'http://a' }, false],
    ['GET', { 'Access-Control-Request-Method': 'POST' }, false],
  ])('B31: of %s with %j is %s', (method, headers, is) => {
    expect(isPreflight(request(method, headers))).toBe(is)
  })
})

describe('takeTicketId', () => {
  it('takes ids of queue events out of the request, wherever they can be read', () => {
    const req = request('GET', { Host: 'a', 'Last-Event-ID': 'q:abc', Accept: '*/*' })
    expect(takeTicketId(req)).toBe('abc')
    expect(req.headers).toEqual({ host: 'a', accept: '*/*' })
    expect(req.rawHeaders).toEqual(['Host', 'a', 'Accept', '*/*'])
  })

  it.each<[Record<string, string>]>([[{ 'Last-Event-ID': '42' }], [{ 'Last-Event-ID': '' }], [{}]])(
    'leaves %j alone',
    (headers) => {
      const req = request('GET', headers)
      expect(takeTicketId(req)).toBeUndefined()
      expect(req.rawHeaders).toEqual(Object.entries(headers).flat())
    },
  )
})
