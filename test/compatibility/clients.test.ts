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
import { measureDoor, measureStream, measureWait, type Finding, type WaitName } from './measure.js'
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

describe('a client that has to wait in front of Express', () => {
  /** By client: one may be measured twice. */
  const rows = new Map<string, string[]>()

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
      rows.set(client.name, row)
    },
    60_000,
  )

  it('is on the page docs/compatibility.md as it was measured; `npm test -- test/compatibility -u` writes it anew', async () => {
    expect([...rows.keys()]).toEqual(clients.map(({ name }) => name))
    await expect(
      withTable(readPage(), 'clients', ['client', ...Object.keys(columns)], [...rows.values()]),
    ).toMatchFileSnapshot(page)
  })
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
