import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { describe, expect, it } from 'vitest'
import { eventually } from './site.js'
import { streams } from './sseAnswers.js'
import { expressTwins, fastifyTwins, koaTwins, type Twins } from './twins.js'

const [, answer] = streams.find(([name]) => name === 'ai@6 pipeUIMessageStreamToResponse')!

const frameworks: readonly (readonly [string, () => Promise<Twins>])[] = [
  ['Express', () => expressTwins((app, path, gate) => app.post(path, gate, (req, res) => void answer(req, res)))],
  [
    'Koa',
    () =>
      koaTwins(async (ctx) => {
        ctx.respond = false
        await answer(ctx.req, ctx.res)
      }),
  ],
  [
    'Fastify',
    () =>
      fastifyTwins((app, path, config) =>
        app.post(path, { config }, async (request, reply) => {
          reply.hijack()
          await answer(request.raw, reply.raw)
        }),
      ),
  ],
]

/** What an application has that asked for events, after its question. */
interface Conversation {
  readonly chat: Chat<never>
  readonly sent: Promise<void>
  /** The places that it could show. */
  readonly told: readonly unknown[]
}

function ask({ port }: Twins): Conversation {
  const told: unknown[] = []
  const chat = new Chat<never>({
    transport: new DefaultChatTransport({
      api: `http://127.0.0.1:${port}/gated`,
      headers: { Accept: 'text/event-stream' },
    }),
    onData: ({ data }: { data: unknown }) => told.push(data),
  })
  return { chat, sent: chat.sendMessage({ text: 'Hi' }), told }
}

describe.each(frameworks)('Cases 4 and 22: useChat in front of %s, told of its wait', (_framework, open) => {
  it('shows the place, and ends ready, with the answer and nothing of the wait in its messages', async () => {
    const twins = await open()
    const holder = await twins.queue.acquire()
    const { chat, sent, told } = ask(twins)
    await eventually(() => told.length).toBe(1)
    await holder.release()
    await sent
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    expect(chat.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ type: 'text', text: 'Hello' }] },
    ])
    expect(told).toMatchObject([
      { state: 'waiting', position: 1 },
      { state: 'admitted', position: 0 },
    ])
  })

  it('ends with the reason when it is refused', async () => {
    const twins = await open()
    await twins.queue.acquire()
    const { chat, sent, told } = ask(twins)
    await eventually(() => told.length).toBe(1)
    void twins.queue.close({ graceMs: 0 })
    await sent
    expect([chat.status, chat.error?.message]).toEqual(['error', 'Queue "chat" is closing.'])
    expect(chat.messages).toMatchObject([{ role: 'user' }])
  })
})
