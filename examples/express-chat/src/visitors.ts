import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import express from 'express'
import { beginEvents, sendEvent } from './events.js'

/**
 * Many visitors at once. Over HTTP/1.1 a browser opens no more than six connections to one site, so no crowd can come from one page: this
 * plays the crowd. Each visitor asks `/ask` over a connection of its own, and the page gets what they all read in one stream.
 */
export const visitors: express.Router = express.Router()

const MOST = 20
const present = new Map<string, AbortController>()

visitors.post('/visitors', express.json(), async (req, res) => {
  const { questions } = (req.body ?? {}) as { questions?: unknown }
  if (!Array.isArray(questions) || questions.length > MOST) {
    res.status(400).json({ detail: `Send JSON such as {"questions": ["Who is next?"]}, with at most ${MOST}.` })
    return
  }
  const { localAddress = '', localPort } = req.socket
  const url = `http://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}/ask`
  const crowd = questions.map((question: unknown) => ({ id: randomUUID(), question, leave: new AbortController() }))
  for (const { id, leave } of crowd) present.set(id, leave)
  res.on('close', () => {
    for (const { leave } of crowd) leave.abort()
  })

  beginEvents(res)
  sendEvent(res, 'arrived', { ids: crowd.map(({ id }) => id) })
  const visits = crowd.map(async ({ id, question, leave }, number) => {
    // One after the other, as people come in.
    await setTimeout(20 * number)
    for await (const read of visit(url, question, leave.signal)) sendEvent(res, 'visitor', { id, ...read })
    present.delete(id)
  })
  await Promise.all(visits)
  res.end()
})

visitors.delete('/visitors/:id', (req, res) => {
  present.get(req.params.id)?.abort()
  res.status(204).end()
})

/** What a visitor reads. */
interface Read {
  readonly event: string
  readonly data: string
}

/** One visitor. Never throws. */
async function* visit(url: string, question: unknown, signal: AbortSignal): AsyncGenerator<Read> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json' },
      body: JSON.stringify({ question }),
      signal,
    })
    if (!response.ok) {
      yield { event: 'refused', data: await response.text() }
      return
    }
    const events = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    for await (const { event = 'message', data } of events) yield { event, data }
  } catch {
    if (!signal.aborted) yield { event: 'error', data: JSON.stringify({ error: { message: 'The connection broke.' } }) }
  }
}
