import { describe, expect, it } from 'vitest'
import { policyPrinters } from '../../src/http/rateLimitFields.js'

const chat = { name: 'chat', quota: 10, resetS: 5 } as const

describe('The fields of draft-ietf-httpapi-ratelimit-headers', () => {
  it('-08 are a policy and what is left of it, beside those of others', () => {
    expect(policyPrinters['draft-8'](chat)).toEqual({
      set: [],
      append: [
        ['RateLimit-Policy', '"chat";q=10;qu="concurrent-requests"'],
        ['RateLimit', '"chat";r=0;t=5'],
      ],
    })
  })

  it('-07 are one dictionary', () => {
    expect(policyPrinters['draft-7'](chat)).toEqual({
      set: [['RateLimit', 'limit=10, remaining=0, reset=5']],
      append: [],
    })
  })

  it('-06 are three numbers', () => {
    expect(policyPrinters['draft-6'](chat)).toEqual({
      set: [
        ['RateLimit-Limit', '10'],
        ['RateLimit-Remaining', '0'],
        ['RateLimit-Reset', '5'],
      ],
      append: [],
    })
  })

  it.each([
    ['a"b', String.raw`"a\"b"`],
    [String.raw`a\b`, String.raw`"a\\b"`],
    ['a\r\nSet-Cookie: a=b', '"a~000d~000aSet-Cookie~003a~0020a~003db"'],
    ['größe', '"gr~00f6~00dfe"'],
    ['\ud800', '"~d800"'],
    ['x'.repeat(65), expect.stringMatching(/^"![\w-]{43}"$/) as string],
  ])('encodes the name %j so that it stays one text', (name, label) => {
    const [policy] = policyPrinters['draft-8']({ name, quota: 1, resetS: 1 }).append
    expect(policy![1].slice(0, policy![1].indexOf(';'))).toEqual(label)
  })
})
