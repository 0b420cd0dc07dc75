import { chromium, type Browser, type Page } from 'playwright-core'
import { versioned, type Client } from './client.js'

let launched: Promise<{ readonly browser: Browser; readonly page: Page }> | undefined
let showing: (text: string) => void = () => undefined

/** A browser with one page, started when it is first asked for. */
async function launch(): Promise<{ readonly browser: Browser; readonly page: Page }> {
  const browser = await chromium.launch({ executablePath: process.env['CHROMIUM']!, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  await page.exposeFunction('show', (text: string) => showing(text))
  return { browser, page }
}

/** Ends what the clients in a browser have started. */
export async function closeBrowser(): Promise<void> {
  await (await launched)?.browser.close()
}

/** Runs an application in a page; what it rejects with comes out as it was, for errors lose their members on the way. */
export async function inPage(
  url: string,
  application: string,
  show: (text: string) => void = () => undefined,
): Promise<string> {
  const { page } = await (launched ??= launch())
  showing = show
  await page.goto(url)
  const outcome = await page.evaluate<{ text?: string; error?: object }>(
    `(${application})().then((text) => ({ text }), (error) => ({ error: { message: String(error), ...error } }))`,
  )
  if (outcome.error !== undefined) throw Object.assign(new Error('In the page'), outcome.error)
  return outcome.text!
}

const eventSource = `async () => {
  const source = new EventSource('/events')
  let text = ''
  try {
    return await new Promise((resolve, reject) => {
      source.addEventListener('queue', ({ data }) => show(data))
      source.addEventListener('message', ({ data }) => (text += JSON.parse(data).text))
      source.addEventListener('end', () => resolve(text))
      source.addEventListener('error', ({ data }) => reject(new Error(data)))
    })
  } finally {
    source.close()
  }
}`

/** As its own documentation has it, and with an \`onerror\` that does not come back for ever. */
const fetchEventSource = `async () => {
  const { fetchEventSource } = await import('/fetch-event-source/index.js')
  let text = ''
  await fetchEventSource('/events', {
    method: 'POST',
    openWhenHidden: true,
    async onopen(response) {
      if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status })
    },
    onmessage({ event, data }) {
      if (event === 'end') return
      if (event === 'error') throw new Error(data)
      if (event === 'queue') return show(data)
      text += JSON.parse(data).text
    },
    onerror(error) {
      throw error
    },
  })
  return text
}`

export const browserClients: readonly Client[] = [
  { name: 'EventSource of Chromium', ask: (url, show) => inPage(url, eventSource, show) },
  {
    name: `${versioned('@microsoft/fetch-event-source')} in Chromium`,
    ask: (url, show) => inPage(url, fetchEventSource, show),
  },
]
