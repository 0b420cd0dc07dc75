import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { formatEvent } from './events.js'

const MOST = 20

/**
 * Many visitors at once. Over HTTP/1.1 a browser opens no more than six connections to one site, so no crowd can come from one page: this
 * plays the crowd. Each visitor asks `/ask` over a connection of its own, and the page gets what they all read in one stream.
 */
export class Crowd {
  static readonly hint = {
    detail: `Send JSON such as {"questions": ["Who is next?"]}, with at most ${MOST}.`,
  } as const

  readonly #present = new Map<string, AbortController>()

  /**
   * What these visitors read, as a stream of events; null if the body of the request says nothing of them. They leave when the stream is
   * destroyed. `socket`: one of the server whose `/ask` they ask.
   */
  visit(body: unknown, { localAddress = '', localPort }: Socket): Readable | null {
    const { questions } = (body ?? {}) as { readonly questions?: unknown }
    if (!Array.isArray(questions) || questions.length > MOST) return null
    const url = `http://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}/ask`
    const visitors = questions.map((question: unknown) => ({
      id: randomUUID(),
      question,
      leave: new AbortController(),
    }))
    for (const { id, leave } of visitors) this.#present.set(id, leave)
    const stream = new PassThrough()
    stream.on('close', () => {
      for (const { leave } of visitors) leave.abort()
    })
    stream.write(formatEvent('arrived', { ids: visitors.map(({ id }) => id) }))
    const visits = visitors.map(async ({ id, question, leave }, number) => {
      // One after the other, as people come in.
      await setTimeout(20 * number)
      for await (const read of visit(url, question, leave.signal)) {
        if (!stream.destroyed) stream.write(formatEvent('visitor', { id, ...read }))
      }
      this.#present.delete(id)
    })
    void Promise.all(visits).then(() => stream.end())
    return stream
  }

  /** One of them leaves. */
  leave(id: string): void {
    this.#present.get(id)?.abort()
  }
}

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
