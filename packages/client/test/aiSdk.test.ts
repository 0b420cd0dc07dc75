import { describe, expect, it } from 'vitest'
import * as ai6 from 'ai'
import * as ai5 from 'ai5'
import { fetchInTurn, RefusedError, type QueueNews } from '@fairqueue/client'
import { eventually } from './rawServer.js'
import { openSite, type Site } from './site.js'

/** What the tests use of the two majors. */
const versions = [
  { version: 'ai 6', ai: ai6 },
  { version: 'ai 5', ai: ai5 as unknown as typeof ai6 },
]

describe.each(versions)('A transport of $version over fetchInTurn', ({ ai }) => {
  const site = (): Promise<Site> =>
    openSite((app, gate) => {
      app.post('/api/chat', gate, (_req, res) => {
        const stream = ai.createUIMessageStream({
          execute: ({ writer }) => {
            writer.write({ type: 'text-start', id: '1' })
            for (const delta of ['Hel', 'lo ', 'Grüße']) writer.write({ type: 'text-delta', id: '1', delta })
            writer.write({ type: 'text-end', id: '1' })
          },
        })
        void ai.pipeUIMessageStreamToResponse({ response: res, stream })
      })
    })

  const send = async (here: Site, abortSignal?: AbortSignal): Promise<[Promise<string>, QueueNews[]]> => {
    const news: QueueNews[] = []
    const transport = new ai.DefaultChatTransport({
      api: `${here.url}/api/chat`,
      fetch: (input, init) => fetchInTurn(input, { ...init, onQueue: (one) => news.push(one), retry: false }),
    })
    const read = async (): Promise<string> => {
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId: 'c',
        messageId: undefined,
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
        abortSignal,
      })
      let said = ''
      for await (const { parts } of ai.readUIMessageStream({ stream })) {
        said = parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
      }
      return said
    }
    const answer = read()
    answer.catch(() => {})
    return [answer, news]
  }

  it('reads the message of a request that waited, and nothing of the wait is in it', async () => {
    const here = await site()
    const holder = await here.hold()
    const [answer, news] = await send(here)
    await eventually(() => news.length).toBe(1)
    await holder.release()
    expect(await answer).toBe('Hello Grüße')
    expect(news.map(({ state }) => state)).toEqual(['waiting', 'admitted'])
  })

  it('works as ever for who need not wait', async () => {
    const [answer, news] = await send(await site())
    expect(await answer).toBe('Hello Grüße')
    expect(news).toEqual([])
  })

  it('hands the refusal on as it is', async () => {
    const here = await site()
    await here.hold()
    const [answer] = await send(here)
    await here.untilWaiting(1)
    void here.gate.close({ graceMs: 0 })
    await expect(answer).rejects.toBeInstanceOf(RefusedError)
    await expect(answer).rejects.toMatchObject({ code: 'FQ_DRAINING' })
  })

  it('gives the place up when it is aborted', async () => {
    const here = await site()
    await here.hold()
    const controller = new AbortController()
    const [answer] = await send(here, controller.signal)
    await here.untilWaiting(1)
    controller.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
    await here.untilWaiting(0)
  })
})
