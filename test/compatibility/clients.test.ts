import { afterAll, describe, expect, it } from 'vitest'
import type { Refusal } from '@fairqueue/express'
import { aiSdkClients } from './clients/aiSdk.js'
import { anthropicClients } from './clients/anthropic.js'
import { browserClients, closeBrowser } from './clients/browser.js'
import type { Client } from './clients/client.js'
import { eventSourceClients } from './clients/eventSource.js'
import { fetchClients } from './clients/fetch.js'
import { mcpClients } from './clients/mcp.js'
import { openaiClients } from './clients/openai.js'
import { otherSdkClients } from './clients/otherSdks.js'
import { retryingClients } from './clients/retrying.js'
import { measureDoor, measureStream, measureWait, type Finding, type WaitName } from './measure.js'
import { measureRetries, retryColumns } from './retries.js'
import { page, readPage, withTable } from './table.js'

const clients: readonly Client[] = [
  ...browserClients,
  ...eventSourceClients,
  ...fetchClients,
  ...aiSdkClients,
  ...openaiClients,
  ...anthropicClients,
  ...otherSdkClients,
  ...mcpClients,
]

const columns: Readonly<Record<string, (client: Client) => Promise<Finding>>> = {
  ...Object.fromEntries(
    (['by default', 'universal', 'plain', 'comment', 'silence'] satisfies WaitName[]).map((wait) => [
      wait,
      (client: Client) => measureWait(client, wait),
    ]),
  ),
  'refused at the door': (client) => measureDoor(client),
  'refused in the stream': measureStream,
}

/** What must hold whatever the page says. */
const always: Readonly<Record<string, RegExp>> = {
  'by default': /^(shown|whole)/,
  silence: /^whole$/,
  'refused at the door': /503|error/,
}

/** Rows of the tables, by client: one may be measured twice. */
const waiting = new Map<string, string[]>()
const retrying = new Map<string, string[]>()

describe('Cases 19 and 22: a client that has to wait in front of Express', () => {
  afterAll(closeBrowser)

  it.each(clients)(
    '$name gets the whole answer by default and in silence',
    async (client) => {
      const row = [client.name]
      for (const [column, measure] of Object.entries(columns)) {
        const { cell, reason } = await measure(client)
        expect.soft(cell, `${column}: ${String(reason)}`).toMatch(always[column] ?? /^/)
        row.push(cell)
      }
      waiting.set(client.name, row)
    },
    60_000,
  )
})

describe('A client that is refused, with the retries that it has of its own', () => {
  it.each(retryingClients)(
    '$name comes back, if it does, no sooner than it was told within a minute',
    async (client) => {
      const cells = await measureRetries(client)
      expect(cells[1]).toMatch(/^(5 s, 5 s)?$/)
      retrying.set(client.name, [client.name, ...cells])
    },
  )
})

it('The page docs/compatibility.md shows what was measured; `npm test -- test/compatibility -u` writes it anew', async () => {
  expect([...waiting.keys()]).toEqual(clients.map(({ name }) => name))
  expect([...retrying.keys()]).toEqual(retryingClients.map(({ name }) => name))
  const withWaits = withTable(readPage(), 'clients', ['client', ...Object.keys(columns)], [...waiting.values()])
  await expect(withTable(withWaits, 'retries', retryColumns, [...retrying.values()])).toMatchFileSnapshot(page)
})

describe('The reason of a refusal at the door', () => {
  const full = 'The line of queue "chat" is full.'
  const refused = async (name: string, options?: Parameters<typeof measureDoor>[1]): Promise<unknown> =>
    (
      await measureDoor(
        clients.find((client) => client.name.startsWith(name))!,
        options,
      )
    ).reason

  it.each<[string, object]>([
    ['openai@', { message: `503 ${full}`, code: 'FQ_QUEUE_FULL', type: 'overloaded_error', status: 503 }],
    ['@ai-sdk/openai-compatible@', { message: full, statusCode: 503, isRetryable: true }],
    ['@anthropic-ai/sdk@', { apiMessage: full, type: 'overloaded_error', status: 503 }],
    ['groq-sdk@', { error: { error: { message: full, code: 'FQ_QUEUE_FULL' } }, status: 503 }],
  ])('is where %s looks for it', async (name, error) => {
    expect(await refused(name)).toMatchObject(error)
  })

  it("is given to the AI SDK's provider for Anthropic, which wants a body of its own, by the option `message`", async () => {
    const message = (_req: unknown, refusal: Refusal) => ({
      type: 'error',
      error: { message: refusal.message, type: 'overloaded_error' },
    })
    expect(await refused('@ai-sdk/anthropic@', { message })).toMatchObject({ message: full, statusCode: 503 })
  })
})
