import { fileURLToPath } from 'node:url'

/** Nothing but the page's own files may run, and no script can turn text into markup. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const pageHeaders = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const

/** The folders of the page's files: its own, and the parser of events, straight from its package, under `/eventsource-parser`. */
export const pageFiles = {
  page: fileURLToPath(new URL('../public', import.meta.url)),
  parser: fileURLToPath(new URL('..', import.meta.resolve('eventsource-parser'))),
} as const
