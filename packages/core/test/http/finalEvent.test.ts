import { describe, expect, it } from 'vitest'
import { finalEvent, type LateAnswer } from '../../src/http/finalEvent.js'

const late = (status: number, type: string | undefined, body: string, more: Partial<LateAnswer> = {}): LateAnswer => ({
  status,
  headers: type === undefined ? {} : { 'content-type': type },
  body: Buffer.from(body),
  truncated: false,
  ...more,
})

const dataOf = (answer: LateAnswer): unknown => JSON.parse(/^data: (.*)$/m.exec(finalEvent(answer))![1]!)

describe('finalEvent', () => {
  it('writes an error with exactly these bytes', () => {
    expect(finalEvent(late(503, 'application/problem+json', '{"detail":"Full.","status":503}'))).toBe(
      'id: q:end\nevent: error\ndata: {"type":"error","errorText":"Full.","status":503,"error":{"type":"overloaded_error","code":503,"message":"Full."},"body":{"detail":"Full.","status":503}}\n\n',
    )
  })

  it('writes a response with exactly these bytes', () => {
    expect(finalEvent(late(200, 'application/json', '{"a":1}'))).toBe(
      'id: q:end\nevent: response\ndata: {"status":200,"headers":{"content-type":"application/json"},"body":{"a":1}}\n\n',
    )
  })

  it('lets no line end of a body become one of the stream', () => {
    const text = finalEvent(late(200, 'text/plain', 'a\r\nevent: x\n\ndata: y\n'))
    expect(text.split(/\r\n|\r|\n/)).toHaveLength(5)
    expect(dataOf(late(200, 'text/plain', 'a\r\nb'))).toMatchObject({ body: 'a\r\nb' })
  })

  it.each([
    ['{"detail":"a","message":"b"}', 'a'],
    ['{"message":"b","error":"c"}', 'b'],
    ['{"error":"c"}', 'c'],
    ['{"error":{"message":"d"}}', 'd'],
    ['{"title":"e"}', 'e'],
    ['{"detail":5}', 'Bad Gateway'],
    ['[]', 'Bad Gateway'],
    ['null', 'Bad Gateway'],
    [`{"message":"${'x'.repeat(1000)}"}`, 'x'.repeat(300)],
  ])('takes the message of %s out of a JSON body', (body, message) => {
    expect(dataOf(late(502, 'application/json', body))).toMatchObject({ errorText: message, error: { message } })
  })

  it.each([
    ['short', 'short'],
    ['<h1>Bad</h1>', 'Bad Gateway'],
    ['x'.repeat(301), 'Bad Gateway'],
    ['', 'Bad Gateway'],
  ])('takes the text %j for the message only if a person can read it', (body, message) => {
    expect(dataOf(late(502, 'text/html', body))).toMatchObject({ errorText: message })
  })

  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'invalid_request_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'overloaded_error'],
  ])('calls status %i %s', (status, type) => {
    expect(dataOf(late(status, undefined, ''))).toMatchObject({ error: { type, code: status } })
  })

  it('shows no cookie and no framing of the response that was not sent', () => {
    const headers = { 'set-cookie': ['a=b'], 'content-length': 3, etag: 'W/"1"', 'x-own': '1' }
    expect(dataOf(late(200, undefined, 'abc', { headers }))).toMatchObject({ headers: { 'x-own': '1' } })
    expect(finalEvent(late(200, undefined, 'abc', { headers }))).not.toMatch(/a=b|content-length|etag/)
  })

  it('tells where a redirect leads', () => {
    expect(dataOf(late(302, undefined, '', { headers: { location: '/x' } }))).toMatchObject({
      status: 302,
      location: '/x',
    })
  })

  it.each([
    ['5', 5],
    ['120', 120],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('tells when to come back: Retry-After %j is %j seconds', (value, seconds) => {
    const data = dataOf(late(429, undefined, '', { headers: { 'retry-after': value } })) as { retryAfter?: number }
    expect(data.retryAfter).toBe(seconds)
  })

  it('counts a Retry-After that is a date from now', () => {
    const headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }
    const { retryAfter } = dataOf(late(503, undefined, '', { headers })) as { retryAfter: number }
    expect(retryAfter).toBeGreaterThan(50)
    expect(retryAfter).toBeLessThanOrEqual(60)
  })

  it('does not parse a body that is not complete', () => {
    expect(dataOf(late(200, 'application/json', '{"a":1}', { truncated: true }))).toMatchObject({
      body: '{"a":1}',
      truncated: true,
    })
  })
})
