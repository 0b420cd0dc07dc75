import { GoogleGenAI } from '@google/genai'
import { Mistral } from '@mistralai/mistralai'
import Groq from 'groq-sdk'
import { versioned, type Client } from './client.js'

const messages = [{ role: 'user' as const, content: 'Hi' }]

export const otherSdkClients: readonly Client[] = [
  {
    name: versioned('groq-sdk'),
    ask: async (url, show) => {
      const groq = new Groq({ baseURL: url, apiKey: 'none', maxRetries: 0 })
      let text = ''
      for await (const chunk of await groq.chat.completions.create({ model: 'm', messages, stream: true })) {
        show(JSON.stringify(chunk))
        text += chunk.choices[0]!.delta.content ?? ''
      }
      return text
    },
  },
  {
    name: versioned('@mistralai/mistralai'),
    ask: async (url, show) => {
      const mistral = new Mistral({ serverURL: url, apiKey: 'none', retryConfig: { strategy: 'none' } })
      let text = ''
      for await (const event of await mistral.chat.stream({ model: 'm', messages })) {
        show(JSON.stringify(event))
        const { content } = event.data.choices[0]!.delta
        if (typeof content === 'string') text += content
      }
      return text
    },
  },
  {
    name: versioned('@google/genai'),
    ask: async (url, show) => {
      const google = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
      let text = ''
      for await (const chunk of await google.models.generateContentStream({ model: 'm', contents: 'Hi' })) {
        show(JSON.stringify(chunk))
        text += chunk.text ?? ''
      }
      return text
    },
  },
]
