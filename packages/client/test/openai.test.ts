import { describe, expect, it } from 'vitest'
import type { RequestHandler } from 'express'
import OpenAI, { APIUserAbortError, InternalServerError } from 'openai'
import { fetchInTurn, type QueueNews } from '@fairqueue/client'
import { eventually } from './rawServer.js'
import { openSite, type Site } from './site.js'

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})

/** Answers as OpenAI does, in a stream if that is asked for. */
const complete: RequestHandler = (req, res) => {
  const { stream, messages } = req.body as { stream?: boolean; messages: { content: string }[] }
  const content = `You said ${messages[0]!.content}`
  if (stream === true) {
    res.type('text/event-stream').write(`data: ${JSON.stringify(chunk({ role: 'assistant' }))}\n\n`)
    for (const piece of content.split(/(?<= )/)) res.write(`data: ${JSON.stringify(chunk({ content: piece }))}\n\n`)
    res.end(`data: ${JSON.stringify(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n`)
  } else {
    const message = { role: 'assistant', content }
    res.json({ id: 'c1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
  }
}

const site = (maxQueueSize = 10): Promise<Site> =>
  openSite((app, gate) => app.post('/v1/chat/completions', gate, complete), { maxQueueSize })

function clientOf({ url }: Site): { openai: OpenAI; news: QueueNews[] } {
  const news: QueueNews[] = []
  const openai = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'none',
    maxRetries: 0,
    fetch: (input, init) =>
      fetchInTurn(input, { ...init, onQueue: (one) => news.push(one), retry: false, throwRefusals: false }),
  })
  return { openai, news }
}

const hello = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } as const
const params = { model: 'm', messages: [...hello.messages] }

describe('The OpenAI SDK over fetchInTurn', () => {
  it('streams the answer of a request that waited, and nothing of the wait is in it', async () => {
    const here = await site()
    const { openai, news } = clientOf(here)
    const holder = await here.hold()
    const asked = openai.chat.completions.create({ ...params, stream: true })
    await eventually(() => news.length).toBe(1)
    await holder.release()
    let said = ''
    for await (const { id, model, choices } of await asked) {
      expect([id, model]).toEqual(['c1', 'm'])
      said += choices[0]!.delta.content ?? ''
    }
    expect(said).toBe('You said Hello')
    expect(news.map(({ state }) => state)).toEqual(['waiting', 'admitted'])
  })

  it('reads an answer that is no stream, though it had to wait', async () => {
    const here = await site()
    const { openai, news } = clientOf(here)
    const holder = await here.hold()
    const asked = openai.chat.completions.create(params)
    await eventually(() => news.length).toBe(1)
    await holder.release()
    expect((await asked).choices[0]!.message.content).toBe('You said Hello')
    expect(news.map(({ state }) => state)).toEqual(['waiting', 'admitted'])
  })

  it('works as ever for who need not wait', async () => {
    const { openai, news } = clientOf(await site())
    expect((await openai.chat.completions.create(params)).choices[0]!.message.content).toBe('You said Hello')
    const stream = openai.chat.completions.stream(params)
    expect(await stream.finalContent()).toBe('You said Hello')
    expect(news).toEqual([])
  })

  it('throws its own error, with status and headers, at the door and after the wait was told of', async () => {
    const here = await site(1)
    const { openai } = clientOf(here)
    await here.hold()
    const waiting = openai.chat.completions.create({ ...params, stream: true })
    waiting.catch(() => {})
    await here.untilWaiting(1)
    const refused = { status: 503, name: 'Error' }
    await expect(openai.chat.completions.create(params)).rejects.toMatchObject(refused)
    void here.gate.close({ graceMs: 0 })
    await expect(waiting).rejects.toBeInstanceOf(InternalServerError)
    await expect(waiting.catch((error: InternalServerError) => error.headers.get('retry-after'))).resolves.toMatch(
      /^\d+$/,
    )
  })

  it('gives the place up when it is aborted', async () => {
    const here = await site()
    const { openai } = clientOf(here)
    await here.hold()
    const controller = new AbortController()
    const asked = openai.chat.completions.create({ ...params, stream: true }, { signal: controller.signal })
    asked.catch(() => {})
    await here.untilWaiting(1)
    controller.abort()
    await expect(asked).rejects.toBeInstanceOf(APIUserAbortError)
    await here.untilWaiting(0)
  })
})
