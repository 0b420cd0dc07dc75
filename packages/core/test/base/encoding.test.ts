import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeKey, encodeText } from '../../src/base/encoding.js'

/** Any JavaScript string: also lone surrogates, also long ones. */
const anyText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 100 }),
  fc.string({ unit: fc.constantFrom('a', '~', '!', '{', '}', ':', '0', '\ud83d', '\ude00', 'ä'), maxLength: 70 }),
  fc.string({ minLength: 60, maxLength: 68 }),
)

test('encoded text is short and holds nothing that means something in a key, a channel or a member', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const encoded = encodeText(text)
      expect(encoded).toMatch(/^[A-Za-z0-9_~!-]*$/)
      expect(encoded.length).toBeLessThanOrEqual(64)
    }),
  )
})

test('distinct texts stay distinct', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyText, { minLength: 2, maxLength: 30 }), (texts) => {
      expect(new Set(texts.map(encodeText)).size).toBe(texts.length)
    }),
  )
})

test('what looks encoded already is not taken for it', () => {
  const texts = ['ä', '~00e4', '~007e00e4', '!', '~0021', encodeText('x'.repeat(65)), 'x'.repeat(65)]
  expect(new Set(texts.map(encodeText)).size).toBe(texts.length)
})

test('plain names stay readable', () => {
  expect(encodeText('chat-gpt_4')).toBe('chat-gpt_4')
  expect(encodeText('a b')).toBe('a~0020b')
  expect(encodeText('x'.repeat(64))).toBe('x'.repeat(64))
  expect(encodeText('x'.repeat(65))).toMatch(/^![A-Za-z0-9_-]{43}$/)
})

test('no key, the empty key and every other key are three different things', () => {
  expect(encodeKey(null)).toBe('')
  fc.assert(
    fc.property(fc.uniqueArray(anyText, { minLength: 1, maxLength: 20 }), (keys) => {
      const encoded = [null, '', ...keys.filter((key) => key !== '')].map(encodeKey)
      expect(new Set(encoded).size).toBe(encoded.length)
    }),
  )
})
