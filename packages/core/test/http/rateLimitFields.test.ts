import { describe, expect, it } from 'vitest'
import { draft8 } from '../../src/http/rateLimitFields.js'

describe('draft8', () => {
  it('prints a policy and what is left of it', () => {
    expect(draft8({ name: 'chat', quota: 10, resetS: 5 })).toEqual([
      ['RateLimit-Policy', '"chat";q=10;qu="concurrent-requests"'],
      ['RateLimit', '"chat";r=0;t=5'],
    ])
  })

  it.each([
    ['a"b', String.raw`"a\"b"`],
    [String.raw`a\b`, String.raw`"a\\b"`],
    ['a\r\nSet-Cookie: a=b', '"a~000d~000aSet-Cookie~003a~0020a~003db"'],
    ['größe', '"gr~00f6~00dfe"'],
    ['\ud800', '"~d800"'],
    ['x'.repeat(65), expect.stringMatching(/^"![\w-]{43}"$/) as string],
  ])('encodes the name %j so that it stays one text', (name, label) => {
    const [policy] = draft8({ name, quota: 1, resetS: 1 })
    expect(policy![1].slice(0, policy![1].indexOf(';'))).toEqual(label)
  })
})
