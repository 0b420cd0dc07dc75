import Anthropic from '@anthropic-ai/sdk'
import { versioned, type Client } from './client.js'

const sdk = versioned('@anthropic-ai/sdk')
const client = (url: string): Anthropic => new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 })
const question = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] }

export const anthropicClients: readonly Client[] = [
  {
    name: `${sdk} messages.create`,
    ask: async (url, show) => {
      let text = ''
      for await (const event of await client(url).messages.create({ ...question, stream: true })) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
        else show(JSON.stringify(event))
      }
      return text
    },
  },
  {
    name: `${sdk} messages.stream`,
    ask: async (url) => client(url).messages.stream(question).finalText(),
  },
]
