import { EventSource } from 'eventsource'
import { EventSource as UndiciEventSource } from 'undici'
import { Reader, versioned, type Client } from './client.js'

interface Source {
  addEventListener(type: string, listener: (event: Event) => void): void
  close(): void
}

/** The application that every page with an `EventSource` has. */
function listen(source: Source, show: (text: string) => void): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const reader = new Reader(show)
    const on = (event: Event): void => {
      try {
        const { type, data, code } = event as MessageEvent<string> & { code?: number }
        if (type === 'error' && data === undefined) throw Object.assign(new Error('error event'), { status: code })
        const answer = reader.take(type, data)
        if (answer !== undefined) resolve(answer)
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
    for (const type of ['message', 'queue', 'end', 'error']) source.addEventListener(type, on)
  }).finally(() => source.close())
}

export const eventSourceClients: readonly Client[] = [
  {
    name: versioned('eventsource'),
    ask: (url, show) => listen(new EventSource(`${url}/events`), show),
  },
  {
    name: `${versioned('undici')} EventSource`,
    ask: (url, show) => listen(new UndiciEventSource(`${url}/events`), show),
  },
]
