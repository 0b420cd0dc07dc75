import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import express from 'express'
import { openAiError } from './openAiError.js'

const MODEL = 'fake-1'
const ANSWER = 'No key is set, so nobody thinks here; but you have waited in a real line for this answer.'

/** Two questions within this time are one too many: so that there is a limit to be seen. */
const LEAST_INTERVAL_MS = 1000

/** A model with OpenAI's interface that needs no key and has little to say. @returns its base address */
export async function openFakeUpstream(): Promise<string> {
  const app = express()
  let nextAtMs = 0
  app.get('/v1/models', (_req, res) => {
    res.json({ object: 'list', data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'nobody' }] })
  })
  app.post('/v1/chat/completions', express.json({ limit: '50mb' }), async (req, res) => {
    if (Date.now() < nextAtMs) {
      res
        .status(429)
        .set('Retry-After', '1')
        .json(openAiError('Too many requests.', 'requests', 'rate_limit_exceeded'))
      return
    }
    nextAtMs = Date.now() + LEAST_INTERVAL_MS
    const { stream } = req.body as { stream?: unknown }
    const base = { id: 'fake', created: 0, model: MODEL }
    if (stream !== true) {
      const message = { role: 'assistant', content: ANSWER, refusal: null }
      res.json({ ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
      return
    }
    res.type('text/event-stream')
    const say = (delta: object, finish_reason: string | null = null): void => {
      const chunk = { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }
      res.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    say({ role: 'assistant', content: '' })
    for (const content of ANSWER.split(/(?<= )/)) {
      if (res.closed) return
      say({ content })
      await setTimeout(50)
    }
    say({}, 'stop')
    res.end('data: [DONE]\n\n')
  })
  const server = app.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}
