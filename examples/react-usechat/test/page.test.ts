import { fileURLToPath } from 'node:url'
import { startExample } from '@fairqueue/test/kit/exampleServer'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

/** How long a test waits for what must come; much, because a machine may be busy. */
const PATIENCE_MS = 30_000

vi.setConfig({ testTimeout: 3 * PATIENCE_MS })

/** An answer begins and goes on for longer than any test. */
const HARDLY_A_WORD = { WORDS_PER_SECOND: '0.001' }

const eventually = <Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> =>
  expect.poll(read, { interval: 20, timeout: PATIENCE_MS })

async function startServer(env: Readonly<Record<string, string>>): Promise<string> {
  return (await startExample(PROGRAM, env)).url
}

describe('The page with useChat', () => {
  let browser: Browser
  beforeAll(async () => {
    const executablePath = process.env['CHROMIUM']
    if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  const complaints: string[] = []
  const visit = async (url: string): Promise<Page> => {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(url)
    return page
  }
  const ask = async (page: Page): Promise<void> => {
    await page.getByLabel('Question').fill('Who is next?')
    await page.keyboard.press('Enter')
  }
  const stop = (page: Page): Promise<void> => page.getByRole('button', { name: 'Stop' }).click()
  const says = (page: Page): Promise<string | null> => page.getByRole('status').textContent()
  const articles = (page: Page): Promise<string[]> => page.getByRole('article').allTextContents()

  it('shows an answer as it comes', async () => {
    const page = await visit(await startServer({ WORDS_PER_SECOND: '100' }))
    await ask(page)
    await eventually(() => articles(page)).toEqual([
      'Who is next?',
      expect.stringMatching(/^This.*waited\.$/) as string,
    ])
    await eventually(() => says(page)).toBe('')
  })

  it('shows the place while a question waits, counts down, and then the answer, with nothing of the wait in it', async () => {
    const url = await startServer(HARDLY_A_WORD)
    const pages = [await visit(url), await visit(url), await visit(url)] as const
    await ask(pages[0])
    await eventually(() => says(pages[0])).toBe('Answering …')
    await ask(pages[1])
    await eventually(() => says(pages[1])).toMatch(/^Next in line/)
    await ask(pages[2])
    await eventually(() => says(pages[2])).toMatch(/^Place 2 in line/)
    await stop(pages[0])
    await eventually(() => says(pages[1])).toBe('Answering …')
    await eventually(() => says(pages[2])).toMatch(/^Next in line/)
    await eventually(() => articles(pages[1])).toEqual(['Who is next?', 'This '])
    expect(await articles(pages[2])).toEqual(['Who is next?'])
    expect(complaints).toEqual([])
  })

  it('frees the place at the push of a button', async () => {
    const url = await startServer(HARDLY_A_WORD)
    const waiting = async (): Promise<number> =>
      ((await (await fetch(`${url}/status`)).json()) as { waiting: number }).waiting
    const [first, second] = [await visit(url), await visit(url)]
    await ask(first)
    await eventually(() => says(first)).toBe('Answering …')
    await ask(second)
    await eventually(() => says(second)).toMatch(/^Next in line/)
    expect(await waiting()).toBe(1)
    await stop(second)
    await eventually(waiting).toBe(0)
    expect(await says(second)).toBe('')
  })

  it('comes back by itself when too many are waiting', async () => {
    const url = await startServer({ ...HARDLY_A_WORD, MAX_QUEUE_SIZE: '0' })
    const [first, second] = [await visit(url), await visit(url)]
    await ask(first)
    await eventually(() => says(first)).toBe('Answering …')
    await ask(second)
    await eventually(() => says(second)).toMatch(/^Too many are waiting. Trying again in about \d+ s/)
    await stop(first)
    await eventually(() => articles(second)).toEqual(['Who is next?', 'This '])
    expect(complaints).toEqual([])
  })
})
