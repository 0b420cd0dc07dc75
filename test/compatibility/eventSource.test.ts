import type { Response } from 'express'
import { EventSource as EventSourcePackage } from 'eventsource'
import { EventSource as UndiciEventSource } from 'undici'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { browserClients, closeBrowser, inPage } from './clients/browser.js'
import { letWait } from './measure.js'
import { eventually, Site } from './site.js'
import { expressTwins, type Twins } from './twins.js'

/** What an `EventSource` told of until a message came, or it gave up. */
interface Watched {
  readonly events: readonly {
    readonly type: string
    readonly data?: string | undefined
    readonly lastEventId?: string | undefined
  }[]
  readonly readyState: number
}

interface Source {
  readonly readyState: number
  onmessage: unknown
  addEventListener(type: string, listener: (event: object) => void): void
  close(): void
}

/** Runs in a page as well, so it uses nothing of this file. */
const watch = async (EventSource: new (url: string) => Source, url: string): Promise<Watched> => {
  const source = new EventSource(url)
  const events: { type: string; data?: string | undefined; lastEventId?: string | undefined }[] = []
  const readyState = await new Promise<number>((resolve) => {
    for (const name of ['queue', 'message', 'error']) {
      source.addEventListener(name, (event) => {
        const { type, data, lastEventId } = event as { type: string; data?: string; lastEventId?: string }
        events.push({ type, data, lastEventId })
        if (type === 'message' || source.readyState === 2) resolve(source.readyState)
      })
    }
  })
  source.close()
  return { events, readyState }
}

const sources: readonly (readonly [string, (url: string) => Promise<Watched>])[] = [
  ['eventsource', (url) => watch(EventSourcePackage, url)],
  ['undici', (url) => watch(UndiciEventSource, url)],
  [
    'Chromium',
    async (url) => {
      const application = `async () => JSON.stringify(await (${watch.toString()})(EventSource, ${JSON.stringify(url)}))`
      return JSON.parse(await inPage(`${url}/page`, application)) as Watched
    },
  ],
]

/** Twins that tell their clients to come back soon, and which `Last-Event-ID` the handler got. */
async function openTwins(): Promise<
  Twins & { url: string; responses: Response[]; told: Set<Response>; seen: unknown[] }
> {
  const responses: Response[] = []
  const seen: unknown[] = []
  const told = new Set<Response>()
  const twins = await expressTwins((app, path, gate) => {
    app.get(`${path}/page`, (_req, res) => void res.type('html').send('A page.'))
    app.get(
      path,
      (_req, res, next) => {
        responses.push(res)
        const write = res.write.bind(res) as (...args: unknown[]) => boolean
        res.write = (chunk: unknown, ...args: unknown[]) => {
          const isNews = String(chunk).startsWith('id: q:')
          if (isNews) told.add(res)
          return write(isNews ? `retry: 10\n${String(chunk)}` : chunk, ...args)
        }
        next()
      },
      gate,
      (req, res) => {
        seen.push([req.headers['last-event-id'], req.rawHeaders.includes('Last-Event-ID')])
        res.type('text/event-stream').end('data: answer\n\n')
      },
    )
  })
  return { ...twins, url: `http://127.0.0.1:${twins.port}/gated`, responses, told, seen }
}

afterAll(closeBrowser)

describe.each(sources)('Case 32: EventSource of %s', (_name, ask) => {
  it('B36: that is refused in the stream is told why, comes back once, and is stopped with a 204', async () => {
    const { queue, responses, told, url, seen } = await openTwins()
    await queue.acquire()
    const watched = ask(url)
    await eventually(() => responses.length).toBe(1)
    await eventually(async () => (await queue.status()).waiting).toBe(1)
    await eventually(() => told.has(responses[0]!)).toBe(true)
    void queue.close({ graceMs: 0 })
    const { events, readyState } = await watched
    const last = events.find(({ data }) => data?.includes('errorText'))
    expect(last).toMatchObject({ type: 'error', lastEventId: 'q:end' })
    expect(JSON.parse(last!.data!)).toMatchObject({ status: 503, retryAfter: 1, body: { code: 'FQ_DRAINING' } })
    // As the layers around the queue see it; on the wire the first was a 200.
    expect([readyState, responses.map(({ statusCode }) => statusCode), seen]).toEqual([2, [503, 204], []])
  })

  it('that was cut while it waited comes back to its place, and the handler sees no id of the queue, nor does its event have one', async () => {
    const { queue, responses, told, url, seen } = await openTwins()
    const holder = await queue.acquire()
    const watched = ask(url)
    await eventually(() => responses.length).toBe(1)
    await eventually(() => told.has(responses[0]!)).toBe(true)
    responses[0]!.destroy()
    await eventually(() => responses.length).toBe(2)
    await eventually(() => told.has(responses[1]!)).toBe(true)
    expect((await queue.status()).waiting).toBe(1)
    await holder.release()
    const { events } = await watched
    const [first, second, admitted] = events
      .filter(({ type }) => type === 'queue')
      .map(({ lastEventId }) => lastEventId)
    expect(first).toMatch(/^q:/)
    expect([second, admitted]).toEqual([first, ''])
    expect(events.at(-1)).toMatchObject({ type: 'message', data: 'answer', lastEventId: '' })
    expect(seen).toEqual([[undefined, false]])
  })
})

it('Case 20: fetch-event-source that parses every message asks once, through two heartbeats', async () => {
  const site = await Site.open({ sse: 'always' })
  onTestFinished(() => site.close())
  const [, client] = browserClients
  expect(await letWait(site, () => client!.ask(site.url, () => undefined), 2)).toBe('Hello')
  expect(site.written.match(/^:$/gm)).toHaveLength(2)
  expect(site.requests).toBe(1)
})
