import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { GoogleGenAI } from '@google/genai'
import { Mistral } from '@mistralai/mistralai'
import Groq from 'groq-sdk'
import OpenAI from 'openai'
import { aiSdkClients, streamed } from './aiSdk.js'
import { versioned, type Client } from './client.js'

/** So that no time-out of a client's own is taken for a pause before it comes back. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

const messages = [{ role: 'user' as const, content: 'Hi' }]
const options = { apiKey: 'none', timeout: NO_TIMEOUT_MS }

/** Clients as they come: with the retries that each has if nobody says otherwise. */
export const retryingClients: readonly Client[] = [
  {
    name: versioned('openai'),
    ask: async (url) => {
      const openai = new OpenAI({ ...options, baseURL: `${url}/v1` })
      return (await openai.chat.completions.stream({ model: 'm', messages }).finalContent())!
    },
  },
  {
    name: versioned('@anthropic-ai/sdk'),
    ask: async (url) => {
      const anthropic = new Anthropic({ ...options, baseURL: url })
      return anthropic.messages.stream({ model: 'm', max_tokens: 9, messages }).finalText()
    },
  },
  {
    name: versioned('groq-sdk'),
    ask: async (url) => {
      const groq = new Groq({ ...options, baseURL: url })
      let text = ''
      for await (const { choices } of await groq.chat.completions.create({ model: 'm', messages, stream: true }))
        text += choices[0]!.delta.content ?? ''
      return text
    },
  },
  {
    name: `${versioned('@ai-sdk/openai-compatible')} streamText`,
    ask: (url) => streamed(createOpenAICompatible({ name: 'own', baseURL: `${url}/v1` })('m')),
  },
  {
    name: `${versioned('@ai-sdk/anthropic')} streamText`,
    ask: (url) => streamed(createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })('m')),
  },
  aiSdkClients.find(({ name }) => name.endsWith('useChat'))!,
  {
    name: versioned('@mistralai/mistralai'),
    ask: async (url) => {
      const mistral = new Mistral({ serverURL: url, apiKey: 'none' })
      let text = ''
      for await (const { data } of await mistral.chat.stream({ model: 'm', messages }))
        text += data.choices[0]!.delta.content as string
      return text
    },
  },
  {
    name: versioned('@google/genai'),
    ask: async (url) => {
      const google = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
      let text = ''
      for await (const chunk of await google.models.generateContentStream({ model: 'm', contents: 'Hi' }))
        text += chunk.text ?? ''
      return text
    },
  },
]
