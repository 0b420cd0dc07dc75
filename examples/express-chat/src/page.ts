import { fileURLToPath } from 'node:url'
import express, { type RequestHandler } from 'express'

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

/** The page and its files, among them the parser of events, straight from its package. */
export const page: express.Router = express
  .Router()
  .use((_req, res, next) => {
    res.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    })
    next()
  })
  .use(files('../public', import.meta.url))
  .use('/eventsource-parser', files('..', import.meta.resolve('eventsource-parser')))

function files(folder: string, from: string): RequestHandler {
  return express.static(fileURLToPath(new URL(folder, from)))
}
