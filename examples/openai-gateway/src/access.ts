import { createHash, timingSafeEqual } from 'node:crypto'
import type { RequestHandler } from 'express'
import { openAiError } from './openAiError.js'

/** Lets in who brings the key as their API key. */
export function onlyFor(key: string): RequestHandler {
  const wanted = digest(`Bearer ${key}`)
  return (req, res, next) => {
    if (timingSafeEqual(digest(req.get('authorization') ?? ''), wanted)) next()
    else res.status(401).json(openAiError('This gateway wants another API key.', 'authentication_error'))
  }
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
