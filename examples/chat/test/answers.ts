import { describe, expect, it } from 'vitest'
import { RawClient, type RawResponse } from '@fairqueue/test/kit/rawHttp'
import type { ChatServer, StartChat } from './chatServer.js'

/** Answers without a model. */
export function answerTests(start: StartChat): void {
  describe('Without a model the example', () => {
    const headers = { 'Content-Type': 'application/json' }
    const ask = async (server: ChatServer, body: string): Promise<RawResponse> => {
      const client = await RawClient.connect(server.port)
      const response = await client.request('POST', '/ask', headers, body).response()
      client.leave()
      return response
    }

    it('answers from the documentation', async () => {
      const server = await start({ WORDS_PER_SECOND: '1000' })
      const response = await ask(server, '{"question":"Can a newcomer overtake a waiter?"}')
      expect(response.status).toBe(200)
      expect(response.header('content-type')).toBe('text/event-stream; charset=utf-8')
      const events = response.body.split('\n\n').filter((text) => text !== '')
      expect(events[0]).toMatch(/^event: sources\ndata: \{"model":null,"files":\["[\w./]+\.md"/)
      expect(events.at(-1)).toBe('event: done\ndata: null')
      const texts = events.slice(1, -1).map((event) => /^event: text\ndata: (.*)$/.exec(event)![1]!)
      const answer = texts.map((text) => JSON.parse(text) as string).join('')
      expect(answer).toContain('A newcomer never overtakes a waiter')
    })

    it('takes its time, word by word, and stops when nobody listens', async () => {
      const server = await start({ WORDS_PER_SECOND: '0.01', CONCURRENCY: '1' })
      const client = await RawClient.connect(server.port)
      client.request('POST', '/ask', headers, '{"question":"Who is next?"}')
      await client.until('event: text')
      await server.untilCounts(1, 0)
      expect(client.received.match(/event: text/g)).toHaveLength(1)
      client.leave()
      await server.untilCounts(0, 0)
    })

    it('refuses what is no question before it takes a place', async () => {
      const server = await start({ CONCURRENCY: '0' })
      const long = JSON.stringify({ question: 'x'.repeat(501) })
      for (const body of ['{}', '{"question":" "}', '{"question":7}', '[]', long]) {
        const response = await ask(server, body)
        expect(response.status).toBe(400)
        expect(JSON.parse(response.body)).toMatchObject({ detail: expect.stringContaining('{"question":') as string })
      }
    })
  })
}
