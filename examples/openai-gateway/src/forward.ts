import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, RequestHandler, Response as ServerResponse } from 'express'
import { fetchInTurn } from '@fairqueue/client'
import { openAiError } from './openAiError.js'

/** Whom the gateway asks. */
export interface Upstream {
  /** For example `https://api.openai.com/v1`. */
  readonly baseUrl: string
  readonly key: string
}

/** What belongs to one connection, or to a body as it was encoded. */
const NOT_FORWARDED = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'proxy-authorization'],
  ...[
    'host',
    'content-length',
    'content-encoding',
    'accept-encoding',
    'expect',
    'authorization',
    'cookie',
    'set-cookie',
  ],
])

/** Sends a request on, and its answer back as it comes. */
export function forwardTo({ baseUrl, key }: Upstream): RequestHandler {
  return async (req, res) => {
    const { signal } = req.fairQueue
    const url = new URL(baseUrl + req.url)
    // Dots in a path must not lead to another part of the upstream.
    if (!url.href.startsWith(`${new URL(baseUrl).href}/`)) {
      res.status(404).json(openAiError('There is no such path.', 'invalid_request_error'))
      return
    }
    try {
      // A 429 keeps its place here for as long as the upstream says, so nobody else runs into the same limit meanwhile.
      const answer = await fetchInTurn(url, {
        method: req.method,
        headers: { ...headersOf(req), authorization: `Bearer ${key}` },
        body: Buffer.isBuffer(req.body) ? new Uint8Array(req.body) : null,
        signal,
        retry: { limit: 5, maxDelayMs: 30_000 },
        throwRefusals: false,
      })
      await sendBack(answer, res)
    } catch (error) {
      if (signal.aborted) return
      console.error('The upstream failed:', error)
      if (res.headersSent) res.destroy()
      else res.status(502).json(openAiError('The upstream cannot be reached.', 'api_error'))
    }
  }
}

function headersOf({ headers }: Request): Record<string, string> {
  const forwarded = Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name))
  return Object.fromEntries(forwarded.map(([name, value]) => [name, String(value)]))
}

async function sendBack(answer: Response, res: ServerResponse): Promise<void> {
  res.status(answer.status)
  for (const [name, value] of answer.headers) if (!NOT_FORWARDED.has(name)) res.setHeader(name, value)
  if (answer.body === null) res.end()
  else await pipeline(Readable.fromWeb(answer.body), res)
}
