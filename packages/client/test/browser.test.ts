import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { fetchInTurn as FetchInTurn, QueueNews } from '@fairqueue/client'
import { eventually, RawServer, stream } from './rawServer.js'
import { openSite, type Site } from './site.js'
import { universalPost } from './wire.js'

/** What the page knows once the bundle has been loaded. */
declare const fairqueue: { readonly fetchInTurn: typeof FetchInTurn }

/** What a script in the page notes. */
interface Noted {
  news: QueueNews[]
  read: string
  error: { name: string; code: string | null; retryAfterMs: number | null } | null
  abort(): void
}
declare const noted: Noted

/** The package as a browser gets it: one file, minified. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      lib: { entry: fileURLToPath(new URL('../src/index.ts', import.meta.url)), formats: ['iife'], name: 'fairqueue' },
    },
  })
  const [first] = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  if (first?.type !== 'chunk') throw new Error('There is no bundle.')
  return first.code
}

describe('In a browser', () => {
  let browser: Browser
  let script: string
  beforeAll(async () => {
    const executablePath = process.env['CHROMIUM']
    if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
    ;[browser, script] = await Promise.all([chromium.launch({ executablePath, args: ['--no-sandbox'] }), bundle()])
  })
  afterAll(() => browser.close())

  const visit = async (url: string): Promise<Page> => {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(`${url}/page`)
    await page.addScriptTag({ content: script })
    return page
  }

  /** Begins a request in the page, and leaves what comes of it in the page's `noted`. */
  const ask = (page: Page, url = '/chat'): Promise<void> =>
    page.evaluate((address) => {
      const controller = new AbortController()
      const now: Noted = { news: [], read: '', error: null, abort: () => controller.abort() }
      Object.assign(globalThis, { noted: now })
      const run = async (): Promise<void> => {
        const response = await fairqueue.fetchInTurn(address, {
          method: 'POST',
          body: JSON.stringify({ question: 'Who is next?' }),
          headers: { 'content-type': 'application/json' },
          signal: controller.signal,
          retry: false,
          onQueue: (one) => now.news.push(one),
        })
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
        for (let got = await reader.read(); !got.done; got = await reader.read()) now.read += got.value
      }
      run().catch((error: NonNullable<Noted['error']>) => {
        now.error = { name: error.name, code: error.code, retryAfterMs: error.retryAfterMs }
      })
    }, url)
  const news = (page: Page): Promise<unknown[]> => page.evaluate(() => noted.news.map(({ position }) => position))
  const read = (page: Page): Promise<string> => page.evaluate(() => noted.read)
  const error = (page: Page): Promise<unknown> => page.evaluate(() => noted.error)

  const site = (): Promise<Site> =>
    openSite((app, gate) => {
      app.get('/page', (_req, res) => void res.type('html').send('<!doctype html><title>A page</title>'))
      app.post('/chat', gate, (req, res) => {
        const { question } = req.body as { question: string }
        res.type('text/event-stream')
        res.write(`data: You asked: ${question}\n\n`)
        res.end('data: Grüße 🎉\n\n')
      })
    })

  it('tells the place, and gives the answer when the turn has come', async () => {
    const here = await site()
    const holder = await here.hold()
    const page = await visit(here.url)
    await ask(page)
    await eventually(() => news(page)).toEqual([1])
    expect(await read(page)).toBe('')
    await holder.release()
    await eventually(() => read(page)).toBe('data: You asked: Who is next?\n\ndata: Grüße 🎉\n\n')
    expect(await news(page)).toEqual([1, 0])
    expect(await error(page)).toBeNull()
  })

  it('frees the place when it aborts, or when its page is left', async () => {
    const here = await site()
    await here.hold()
    const page = await visit(here.url)
    await ask(page)
    await eventually(() => news(page)).toEqual([1])
    await page.evaluate(() => noted.abort())
    await eventually(() => error(page)).toMatchObject({ name: 'AbortError' })
    await here.untilWaiting(0)
    await ask(page)
    await here.untilWaiting(1)
    await page.goto('about:blank')
    await here.untilWaiting(0)
    // The other place is the test's own.
    expect((await here.gate.queue.status()).running).toBe(1)
  })

  it('is refused with a code and a time', async () => {
    const here = await site()
    await here.hold()
    const page = await visit(here.url)
    await ask(page)
    await eventually(() => news(page)).toEqual([1])
    void here.gate.close({ graceMs: 0 })
    await eventually(() => error(page)).toEqual({
      name: 'RefusedError',
      code: 'FQ_DRAINING',
      retryAfterMs: expect.any(Number) as number,
    })
  })

  it('takes its place up again after its connection broke', async () => {
    const line = await RawServer.started(
      ({ res }) => {
        res.setHeader('access-control-allow-origin', '*')
        stream(res, universalPost.waiting(2))
        res.write(universalPost.heartbeat)
      },
      ({ res }) => {
        res.setHeader('access-control-allow-origin', '*')
        stream(res, universalPost.waiting(2), universalPost.admitted, 'data: Hello\n\n')
        res.end()
      },
    )
    const here = await site()
    const page = await visit(here.url)
    await ask(page, line.url)
    await eventually(() => news(page)).toEqual([2])
    const { res } = await line.request(0)
    const gone = once(res, 'close')
    res.destroy()
    await gone
    await eventually(() => read(page)).toBe('data: Hello\n\n')
    expect(await news(page)).toEqual([2, 2, 0])
    expect(line.received.map(({ headers }) => headers['fairqueue-ticket'])).toEqual([undefined, 't1'])
  })
})
