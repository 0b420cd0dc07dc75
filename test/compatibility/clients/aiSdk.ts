import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Chat } from '@ai-sdk/react'
import * as ai6 from 'ai'
import * as ai5 from 'ai5'
import { versioned, type Client } from './client.js'

/** A chat's transport, read as an application does that draws its own messages. */
const transported = (ai: typeof ai6, name: string): Client => ({
  name: `${name} DefaultChatTransport`,
  ask: async (url) => {
    const stream = await new ai.DefaultChatTransport({ api: `${url}/api/chat` }).sendMessages({
      trigger: 'submit-message',
      chatId: 'c',
      messageId: undefined,
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      abortSignal: undefined,
    })
    let text = ''
    for await (const { parts } of ai.readUIMessageStream({ stream, terminateOnError: true })) {
      text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    }
    return text
  },
})

/** What `useChat` is made of. */
const chat =
  (headers: Record<string, string>): Client['ask'] =>
  async (url, show) => {
    const state = new Chat({
      transport: new ai6.DefaultChatTransport({ api: `${url}/api/chat`, headers }),
      onData: (part) => show(JSON.stringify(part)),
    })
    await state.sendMessage({ text: 'Hi' })
    if (state.error !== undefined) throw state.error
    const parts = state.messages.filter(({ role }) => role === 'assistant').flatMap((message) => message.parts)
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  }

/** Streams a text; `maxRetries` is by default the SDK's. */
export const streamed = async (model: ai6.LanguageModel, options: { maxRetries?: number } = {}): Promise<string> => {
  let text = ''
  const { fullStream } = ai6.streamText({ model, prompt: 'Hi', onError: () => undefined, ...options })
  for await (const part of fullStream) {
    if (part.type === 'text-delta') text += part.text
    if (part.type === 'error') throw part.error
  }
  return text
}

const once = { maxRetries: 0 }

// It warns of models that it does not know, on the console.
;(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false

export const aiSdkClients: readonly Client[] = [
  { name: `${versioned('@ai-sdk/react')} useChat`, ask: chat({}) },
  { name: `${versioned('@ai-sdk/react')} useChat that asks for events`, ask: chat({ Accept: 'text/event-stream' }) },
  transported(ai6, versioned('ai')),
  transported(ai5 as unknown as typeof ai6, versioned('ai5')),
  {
    name: `${versioned('@ai-sdk/openai-compatible')} streamText`,
    ask: (url) => streamed(createOpenAICompatible({ name: 'own', baseURL: `${url}/v1` })('m'), once),
  },
  {
    name: `${versioned('@ai-sdk/anthropic')} streamText`,
    ask: (url) => streamed(createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })('m'), once),
  },
]
