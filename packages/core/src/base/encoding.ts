import { createHash } from 'node:crypto'

/** Longest encoded text that is kept as it is; anything longer is replaced by its hash. */
const LONGEST_PLAIN = 64

/**
 * Turns any string into text that is safe as a part of a Redis key, of a channel name and of a ticket's member text.
 *
 * Letters, digits, `-` and `_` stay; every other UTF-16 unit becomes `~hhhh` (by unit, not by code point: lone surrogates are legal
 * JavaScript strings and must neither throw nor collide). What would be longer than 64 characters becomes `!` and its SHA-256.
 * The result never holds braces, colons, blanks or line ends, and distinct inputs give distinct results.
 */
export function encodeText(text: string): string {
  if (text.length <= LONGEST_PLAIN) {
    const encoded = text.replace(/[^A-Za-z0-9_-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    if (encoded.length <= LONGEST_PLAIN) return encoded
  }
  return `!${createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64url')}`
}

/** The same for a ticket's fairness key: no key is the empty text, the empty key is not. */
export function encodeKey(key: string | null): string {
  if (key === null) return ''
  return key === '' ? '~' : encodeText(key)
}
