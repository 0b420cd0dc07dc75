import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { QueueStatus } from '@fairqueue/core'
import { startExample } from '@fairqueue/test/kit/exampleServer'
import { RawClient } from '@fairqueue/test/kit/rawHttp'

vi.setConfig({ testTimeout: 60_000 })

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

const LARGE = randomBytes(20 * 1024 * 1024)

/** Expects it to become true in time; patient, for machines that are busy. */
function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 10, timeout: 30_000 })
}

/** The example's server as a process of its own on a free port, ended when the test ends. */
class UploadServer {
  readonly process: ChildProcess
  readonly url: string

  private constructor(process: ChildProcess, url: string) {
    this.process = process
    this.url = url
  }

  static async started(env: Readonly<Record<string, string>>): Promise<UploadServer> {
    const { process: child, url } = await startExample(PROGRAM, env)
    return new UploadServer(child, url)
  }

  async send(bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
    const body = new FormData()
    body.set('file', new File([bytes], 'large.bin'))
    return await fetch(`${this.url}/files`, { method: 'POST', body })
  }

  async countsAre(running: number, waiting: number): Promise<void> {
    const counts = async (): Promise<unknown> => {
      const status = (await (await fetch(`${this.url}/status`)).json()) as { uploads: QueueStatus }
      return [status.uploads.running, status.uploads.waiting]
    }
    await eventually(counts).toEqual([running, waiting])
  }
}

const sha256 = createHash('sha256').update(LARGE).digest('hex')

describe('The example with uploads', () => {
  it('stores files whole, those that had to wait too, and keeps nobody else waiting', async () => {
    const server = await UploadServer.started({ CONCURRENCY: '1', SCAN_MS: '300' })
    const sent = [1, 2, 3].map(() => server.send(LARGE))
    await server.countsAre(1, 2)
    expect((await fetch(`${server.url}/report`)).status).toBe(200)
    for (const response of await Promise.all(sent)) {
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ name: 'large.bin', size: LARGE.length, sha256 })
    }
    await server.countsAre(0, 0)
  })

  it('refuses with 429 who has waited in vain, and frees the place of who leaves', async () => {
    const server = await UploadServer.started({ CONCURRENCY: '1', SCAN_MS: '600000', MAX_WAIT: '100ms' })
    const leaving = new AbortController()
    const body = new FormData()
    body.set('file', new File(['small'], 'small.txt'))
    const first = fetch(`${server.url}/files`, { method: 'POST', body, signal: leaving.signal })
    await server.countsAre(1, 0)
    const refused = await server.send(LARGE)
    expect([refused.status, Number(refused.headers.get('Retry-After')) >= 1]).toEqual([429, true])
    expect(await refused.json()).toMatchObject({ code: 'FQ_WAIT_TIMEOUT' })
    leaving.abort()
    await expect(first).rejects.toThrow('abort')
    await server.countsAre(0, 0)
  })

  it('tells who asks (Expect: 100-continue) to send when the turn has come', async () => {
    const server = await UploadServer.started({ CONCURRENCY: '1', SCAN_MS: '500' })
    const first = server.send(LARGE)
    await server.countsAre(1, 0)
    const client = await RawClient.connect(Number(new URL(server.url).port))
    const form = '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc\r\n--edge--\r\n'
    client.request('POST', '/files', {
      'Content-Type': 'multipart/form-data; boundary=edge',
      'Content-Length': String(form.length),
      Expect: '100-continue',
    })
    await server.countsAre(1, 1)
    expect(client.received).toBe('')
    await first
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    expect(await client.send(form).until('sha256')).toContain('"size":3')
    client.leave()
  })

  it('ends by itself on SIGTERM, when who runs has finished', async () => {
    const server = await UploadServer.started({ CONCURRENCY: '1', SCAN_MS: '300' })
    const [running, waiting] = [server.send(LARGE), server.send(LARGE)]
    await server.countsAre(1, 1)
    const exit = once(server.process, 'exit')
    server.process.kill('SIGTERM')
    expect(new Set([(await running).status, (await waiting).status])).toEqual(new Set([200, 503]))
    expect(await exit).toEqual([0, null])
  })

  it('has a page that sends many files at once, and comes back when refused', async () => {
    const server = await UploadServer.started({ CONCURRENCY: '1', SCAN_MS: '500', MAX_WAIT: '100ms' })
    const executablePath = process.env['CHROMIUM']
    if (executablePath === undefined) throw new Error('No Chromium on the PATH: set CHROMIUM to its path.')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(server.url)
    const files = ['a', 'b'].map((name) => ({
      name: `${name}.bin`,
      mimeType: 'text/plain',
      buffer: LARGE.subarray(0, 1000),
    }))
    await page.getByLabel('Files to send').setInputFiles(files)
    await page.getByText(/too many uploads, again in \d+ s/).waitFor()
    const hash = createHash('sha256').update(LARGE.subarray(0, 1000)).digest('hex')
    for (const { name } of files) await page.getByText(`${name}: stored, SHA-256 ${hash}`).waitFor()
    expect(await page.getByRole('listitem').count()).toBe(2)
  })
})
