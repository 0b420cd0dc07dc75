import { once } from 'node:events'
import { WebSocket, type ClientOptions } from 'ws'
import { onTestFinished } from 'vitest'

/** What the server says. */
export interface News {
  readonly state: string
  readonly position?: number | null
  readonly code?: string
  readonly word?: string
  readonly retryAfter?: number
}

/** A client of the example, which leaves when the test ends. */
export class Socket {
  readonly socket: WebSocket
  /** All that it was told, in order. */
  readonly told: News[] = []
  readonly #closed: Promise<[code: number, reason: string]>
  #wake = (): void => undefined

  private constructor(url: string, options: ClientOptions) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/session`, options)
    this.socket.on('message', (data: Buffer) => {
      this.told.push(JSON.parse(data.toString()) as News)
      this.#wake()
    })
    this.#closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve([code, reason.toString()])
        this.#wake()
      })
    })
    onTestFinished(() => this.socket.terminate())
  }

  static async connected(url: string, options: ClientOptions = {}): Promise<Socket> {
    const socket = new Socket(url, options)
    await once(socket.socket, 'open')
    return socket
  }

  /** Resolves when it has been told so. @throws Error if the connection ends before */
  async hears(state: string): Promise<News> {
    for (;;) {
      const news = this.told.find((it) => it.state === state)
      if (news !== undefined) return news
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`It closed without "${state}", after ${JSON.stringify(this.told)}.`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** How the connection ended, as soon as it has. */
  get closed(): Promise<[code: number, reason: string]> {
    return this.#closed
  }
}
