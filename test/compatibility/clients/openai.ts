import OpenAI from 'openai'
import { versioned, type Client } from './client.js'

const sdk = versioned('openai')
const client = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
const responses = { model: 'm', input: 'Hi' }

export const openaiClients: readonly Client[] = [
  {
    name: `${sdk} chat.completions.create`,
    ask: async (url, show) => {
      let text = ''
      for await (const chunk of await client(url).chat.completions.create({ ...chat, stream: true })) {
        show(JSON.stringify(chunk))
        text += chunk.choices[0]!.delta.content ?? ''
      }
      return text
    },
  },
  {
    name: `${sdk} chat.completions.stream`,
    ask: async (url) => (await client(url).chat.completions.stream(chat).finalContent())!,
  },
  {
    name: `${sdk} responses.create`,
    ask: async (url, show) => {
      let text = ''
      for await (const event of await client(url).responses.create({ ...responses, stream: true })) {
        if (event.type === 'response.output_text.delta') text += event.delta
        else show(JSON.stringify(event))
      }
      return text
    },
  },
  {
    name: `${sdk} responses.stream`,
    ask: async (url) => (await client(url).responses.stream(responses).finalResponse()).output_text,
  },
]
