import { setTimeout } from 'node:timers/promises'
import { createUIMessageStream, pipeUIMessageStreamToResponse } from 'ai'
import type { Response } from 'express'

const { WORDS_PER_SECOND = '10' } = process.env

const WORDS =
  'This server has no model, so it says the same to everybody, at the pace of one. What is real is the line in which you waited.'

/** Streams an answer as the AI SDK's `useChat` reads it. With a model it would be `streamText(…).pipeUIMessageStreamToResponse(res)`. */
export function answer(response: Response, signal: AbortSignal): Promise<void> | void {
  const stream = createUIMessageStream({
    async execute({ writer }) {
      const id = 'words'
      writer.write({ type: 'text-start', id })
      for (const delta of WORDS.split(/(?<= )/)) {
        writer.write({ type: 'text-delta', id, delta })
        await setTimeout(1000 / Number(WORDS_PER_SECOND), undefined, { signal })
      }
      writer.write({ type: 'text-end', id })
    },
  })
  return pipeUIMessageStreamToResponse({ response, stream })
}
