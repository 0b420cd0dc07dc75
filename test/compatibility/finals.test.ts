import Anthropic from '@anthropic-ai/sdk'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { letWait, waits, type WaitName } from './measure.js'
import { Site } from './site.js'

const messages = [{ role: 'user' as const, content: 'Hi' }]
const options = { apiKey: 'none', maxRetries: 0 }

const askOpenAi = (url: string): Promise<object> =>
  new OpenAI({ ...options, baseURL: `${url}/v1` }).chat.completions
    .stream({ model: 'm', messages })
    .finalChatCompletion()

const askAiSdk = async (url: string): Promise<object> => {
  const model = createOpenAICompatible({ name: 'own', baseURL: `${url}/v1` })('m')
  const { text, response, finishReason } = streamText({ model, prompt: 'Hi', maxRetries: 0 })
  const { id, modelId } = await response
  return { id, modelId, text: await text, finishReason: await finishReason }
}

const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
}
const text = { text: 'Hello', finishReason: 'stop' }

describe('Case 21: what a client puts together of a stream is the answer, and nothing of the wait', () => {
  it.each<[string, WaitName, (url: string) => Promise<object>, object]>([
    ['openai chat.completions.stream', 'universal', askOpenAi, completion],
    ['openai chat.completions.stream', 'comment', askOpenAi, completion],
    [
      'openai responses.stream',
      'comment',
      (url) =>
        new OpenAI({ ...options, baseURL: `${url}/v1` }).responses.stream({ model: 'm', input: 'Hi' }).finalResponse(),
      { id: 'r1', model: 'm', status: 'completed', output_text: 'Hello' },
    ],
    ...(['universal', 'comment'] as const).map((form): [string, WaitName, (url: string) => Promise<object>, object] => [
      '@anthropic-ai/sdk messages.stream',
      form,
      (url) =>
        new Anthropic({ ...options, baseURL: url }).messages
          .stream({ model: 'm', max_tokens: 9, messages })
          .finalMessage(),
      { id: 'm1', model: 'm', content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' },
    ]),
    ['@ai-sdk/openai-compatible streamText', 'comment', askAiSdk, { id: 'c1', modelId: 'm', ...text }],
    // It takes both from the first chunk that it sees.
    ['@ai-sdk/openai-compatible streamText, but for the names,', 'universal', askAiSdk, { modelId: 'queue', ...text }],
  ])('%s, told of it in the form %s', async (_client, form, ask, answer) => {
    const site = await Site.open(waits[form])
    onTestFinished(() => site.close())
    expect(await letWait(site, () => ask(site.url))).toMatchObject(answer)
    expect(site.written).toContain('"position":1')
  })
})
