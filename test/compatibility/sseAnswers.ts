// How the libraries that people write streams with are used in a handler, on Node's own request and response.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getRequestListener } from '@hono/node-server'
import * as ai6 from 'ai'
import * as ai5 from 'ai5'
import { createSession } from 'better-sse'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'

export type Answering = (req: IncomingMessage, res: ServerResponse) => unknown

const message = (ai: typeof ai6): ReadableStream<ai6.UIMessageChunk> =>
  ai.createUIMessageStream({
    execute: ({ writer }) => {
      writer.write({ type: 'text-start', id: '1' })
      for (const delta of ['Hel', 'lo']) writer.write({ type: 'text-delta', id: '1', delta })
      writer.write({ type: 'text-end', id: '1' })
    },
  }) as ReadableStream<ai6.UIMessageChunk>

const texts = (): ReadableStream<string> =>
  new ReadableStream({
    start(controller) {
      for (const text of ['Hel', 'lo']) controller.enqueue(text)
      controller.close()
    },
  })

async function betterSse(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const session = await createSession(req, res, { keepAlive: null })
  session.push({ text: 'Hel' }, 'answer', '1')
  await Promise.resolve()
  session.push({ text: 'lo' }, 'answer', '2')
  res.end()
}

/** A whole application of another framework. */
const hono = new Hono().all('*', (context) =>
  streamSSE(context, async (stream) => {
    await stream.writeSSE({ event: 'answer', data: '"Hel"' })
    await stream.writeSSE({ event: 'answer', data: '"lo"' })
  }),
)

async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers))
  await pipeline(Readable.fromWeb(response.body as never), res)
}

const eachAi = [
  { name: 'ai@6', ai: ai6 },
  { name: 'ai@5', ai: ai5 as unknown as typeof ai6 },
]

/** Those that answer with events. */
export const streams: readonly (readonly [string, Answering])[] = [
  ['better-sse', betterSse],
  ['hono', getRequestListener(hono.fetch)],
  ...eachAi.flatMap(({ name, ai }): [string, Answering][] => [
    [
      `${name} pipeUIMessageStreamToResponse`,
      (_req, res) => ai.pipeUIMessageStreamToResponse({ response: res, stream: message(ai) }),
    ],
    [
      `${name} createUIMessageStreamResponse`,
      (_req, res) => sendResponse(res, ai.createUIMessageStreamResponse({ stream: message(ai) })),
    ],
  ]),
]

/** Those that answer with a plain text in pieces. */
export const textStreams: readonly (readonly [string, Answering])[] = eachAi.map(({ name, ai }) => [
  `${name} pipeTextStreamToResponse`,
  (_req, res) => ai.pipeTextStreamToResponse({ response: res, textStream: texts() }),
])
