import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { eventually } from './eventually.js'

/** One question to the model, answered as the test wants. */
export class Conversation {
  readonly question: string
  /** Resolves when the asker has hung up, or the answer is complete. */
  readonly closed: Promise<unknown>
  readonly #res: ServerResponse

  constructor(question: string, res: ServerResponse) {
    this.question = question
    this.#res = res
    this.closed = once(res, 'close')
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
  }

  /** Whether the answer can still be said. */
  get isOpen(): boolean {
    return !this.#res.closed && !this.#res.writableEnded
  }

  /** Whether the asker hung up before the answer was complete. */
  get wasLeft(): boolean {
    return this.#res.closed && !this.#res.writableEnded
  }

  say(content: string): void {
    this.#send(JSON.stringify(chunk({ content }, null)))
  }

  finish(content = 'An answer.'): void {
    this.say(content)
    this.#send(JSON.stringify(chunk({}, 'stop')))
    this.#send('[DONE]')
    this.#res.end()
  }

  /** The connection is cut in the middle. */
  breakOff(): void {
    this.#res.destroy()
  }

  #send(data: string): void {
    this.#res.write(`data: ${data}\n\n`)
  }
}

/** An OpenAI-compatible server on loopback that says what the test tells it to, when it tells it to. */
export class FakeModel {
  /** In the order in which they were asked. */
  readonly conversations: Conversation[] = []
  readonly #server: Server
  /** Answers everything at once from now on. */
  #eager = false

  private constructor() {
    this.#server = createServer((req, res) => void this.#hear(req, res))
    onTestFinished(async () => {
      this.#server.close()
      this.#server.closeAllConnections()
      await once(this.#server, 'close')
    })
  }

  static async started(): Promise<FakeModel> {
    const model = new FakeModel()
    await once(model.#server.listen(0, '127.0.0.1'), 'listening')
    return model
  }

  /** What makes the example ask it. */
  get env(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo
    return { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'fake-1' }
  }

  /** The conversation with this number, counted from 0, as soon as it has begun. */
  async conversation(number: number): Promise<Conversation> {
    await eventually(() => this.conversations.length).toBeGreaterThan(number)
    return this.conversations[number]!
  }

  answerEverything(): void {
    this.#eager = true
    for (const conversation of this.conversations) if (conversation.isOpen) conversation.finish()
  }

  async #hear(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { model, stream, messages } = (await json(req)) as Asked
    if (req.url !== '/v1/chat/completions' || model !== 'fake-1' || !stream) {
      res.writeHead(400).end()
      return
    }
    const conversation = new Conversation(messages.at(-1)!.content, res)
    this.conversations.push(conversation)
    if (this.#eager) conversation.finish()
  }
}

interface Asked {
  readonly model: string
  readonly stream: boolean
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

function chunk(delta: object, finish_reason: string | null): object {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'fake-1',
    choices: [{ index: 0, delta, finish_reason }],
  }
}
