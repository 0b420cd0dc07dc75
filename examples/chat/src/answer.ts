import { setTimeout } from 'node:timers/promises'
import OpenAI from 'openai'
import { formatEvent } from './events.js'
import type { Passage } from './passages.js'
import { findPassages } from './retrieval.js'

const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL = 'gpt-4o-mini', WORDS_PER_SECOND = '20' } = process.env

/** The model that answers; null when none is set. */
export const model = OPENAI_BASE_URL && OPENAI_API_KEY ? OPENAI_MODEL : null

/** Answers piece by piece; stops with an error when the signal aborts. */
const answerQuestion = model === null ? recite : askModel

/** An answer as a stream of events: `sources`, `text` for each piece, and `done`; or `error`. */
export async function* answerInEvents(question: string, signal: AbortSignal): AsyncGenerator<string> {
  const passages = findPassages(question)
  yield formatEvent('sources', { model, files: passages.map(({ source }) => source) })
  try {
    for await (const text of answerQuestion(question, passages, signal)) yield formatEvent('text', text)
    yield formatEvent('done', null)
  } catch (error) {
    if (!signal.aborted) console.error('The answer broke off:', error)
    yield formatEvent('error', { error: { message: 'The answer broke off.' } })
  }
}

async function* askModel(question: string, passages: Passage[], signal: AbortSignal): AsyncGenerator<string> {
  const context = passages.map(({ source, heading, text }) => `# ${source}: ${heading}\n${text}`).join('\n\n')
  const stream = await new OpenAI().chat.completions.create(
    {
      model: OPENAI_MODEL,
      stream: true,
      messages: [
        { role: 'system', content: `Answer in a few plain sentences, from these passages only.\n\n${context}` },
        { role: 'user', content: question },
      ],
    },
    { signal },
  )
  for await (const chunk of stream) yield chunk.choices[0]?.delta.content ?? ''
  // A stream that was aborted ends as if it were complete.
  signal.throwIfAborted()
}

/** Without a model: the best passages, at a model's pace. */
async function* recite(_question: string, passages: Passage[], signal: AbortSignal): AsyncGenerator<string> {
  const answer = passages.map(({ text }) => shorten(text)).join('\n\n') || 'The documentation says nothing about this.'
  for (const word of answer.split(/(?<=\s)(?=\S)/)) {
    yield word
    await setTimeout(1000 / Number(WORDS_PER_SECOND), undefined, { signal })
  }
}

function shorten(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, text.lastIndexOf(' ', 300))} …`
}
