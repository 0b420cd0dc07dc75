import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { eventually } from './eventually.js'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Somebody in front of the page, in a browser of their own. */
export class Visitor {
  readonly page: Page
  readonly #complaints: string[] = []

  constructor(page: Page) {
    this.page = page
    page.on('pageerror', (error) => this.#complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.#complaints.push(message.text())
    })
  }

  async ask(question: string): Promise<Locator> {
    await this.page.getByLabel('Ask about Fairqueue').fill(question)
    await this.page.keyboard.press('Enter')
    return this.card(question)
  }

  async askTwenty(): Promise<void> {
    await this.page.getByRole('button', { name: 'Ask twenty at once' }).click()
  }

  /** The card of a question. */
  card(question: string): Locator {
    return this.cards().filter({ has: this.page.getByRole('heading', { name: question, exact: true }) })
  }

  /** The question of the card that stands at a place, e.g. `Next` or `2nd`. */
  async questionAt(place: string): Promise<string> {
    const card = this.cards().filter({ has: this.page.getByText(place, { exact: true }) })
    return await card.getByRole('heading').innerText()
  }

  cards(): Locator {
    return this.page.getByRole('listitem')
  }

  /** Waits until the counts at the top say so. */
  async seesCounts(running: string, waiting: string): Promise<void> {
    const counts = (): Promise<(string | null)[]> =>
      Promise.all(['#running', '#waiting'].map((id) => this.page.locator(id).textContent()))
    await eventually(counts).toEqual([running, waiting])
  }

  /** What the browser complained about: errors, refused resources, anything that the page's policy forbids. */
  get complaints(): readonly string[] {
    return this.#complaints
  }
}

/** Waits until a card says where it stands, e.g. `3rd in line, about 12 s`. */
export async function says(card: Locator, state: RegExp): Promise<void> {
  await eventually(() => card.getByRole('status').textContent()).toMatch(state)
}

export function answerOf(card: Locator): Promise<string | null> {
  return card.getByRole('region', { name: 'Answer' }).textContent()
}

/** Gives the calling test file a headless Chromium; each visit has a profile of its own. */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<Visitor> {
  let browser: Browser
  beforeAll(async () => {
    const executablePath = process.env['CHROMIUM']
    if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
    browser = await chromium.launch({ executablePath, args: ARGUMENTS })
  })
  afterAll(() => browser.close())
  return async (url, options) => {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    const visitor = new Visitor(await context.newPage())
    await visitor.page.goto(url)
    return visitor
  }
}
