import { expect } from 'vitest'
import type { OwnQueueOptions } from '@fairqueue/express'
import { ANSWER } from './answers.js'
import type { Client } from './clients/client.js'
import { Site } from './site.js'

/** How a client is told of its wait. */
export const waits = {
  'by default': { sse: 'auto' },
  universal: { sse: 'always', sseFormat: 'universal' },
  plain: { sse: 'always', sseFormat: 'plain' },
  comment: { sse: 'always', sseFormat: 'comment' },
  silence: { sse: 'never' },
} as const satisfies Record<string, Partial<OwnQueueOptions>>

export type WaitName = keyof typeof waits

/** A finding: the words of the table, and what the client itself said. */
export interface Finding {
  readonly cell: string
  readonly reason: unknown
}

export const outcomeOf = (asked: Promise<string>): Promise<{ readonly text?: string; readonly error?: unknown }> =>
  asked.then(
    (text) => ({ text }),
    (error: unknown) => ({ error }),
  )

/**
 * Has somebody ask who must wait behind one who runs and one who waits, until the latter has gone, heartbeats have been sent, and the turn
 * has come.
 */
export async function letWait<Answer>(site: Site, ask: () => Promise<Answer>, heartbeats = 1): Promise<Answer> {
  const { queue } = site.gate
  const holder = await queue.acquire()
  const ahead = queue.enter()
  ahead.granted.catch(() => undefined)
  const asked = ask()
  // Until it is awaited below.
  asked.catch(() => undefined)
  await site.untilWaiting(2)
  await site.clock.advance(0)
  ahead.cancel()
  await site.clock.advance(1000)
  await site.clock.advance(15_000 * heartbeats)
  await holder.release()
  return asked
}

/**
 * What a client makes of a wait. `shown`: it got the whole answer, and the application could see the place in the line · `whole`: it got the
 * whole answer · `lost`: it did not. With `in silence` if it was not told of the wait.
 */
export async function measureWait(client: Client, name: WaitName): Promise<Finding> {
  const site = await Site.open(waits[name])
  try {
    let shown = ''
    const { text, error } = await letWait(site, () => outcomeOf(client.ask(site.url, (more) => (shown += more))))
    const told = site.written !== ''
    if (text !== ANSWER) return { cell: 'lost', reason: error ?? text }
    if (told) expectWait(site.written)
    const result = shown.includes('"position":1') ? 'shown' : 'whole'
    return { cell: name === 'by default' && !told ? `${result}, in silence` : result, reason: text }
  } finally {
    await site.close()
  }
}

/** The wait was what it should be: two places told, a heartbeat, and that it is over. */
function expectWait(written: string): void {
  expect(written.match(/"position":\d+/g)).toEqual(['"position":2', '"position":1', '"position":0'])
  expect(written).toMatch(/^:$/m)
}

/** What a refused client gets to know: the status, the reason, only that it failed, or nothing at all. */
export function lesson({ text, error }: { readonly text?: string; readonly error?: unknown }): string {
  if (error === undefined) return text === ANSWER ? 'the answer' : 'nothing'
  const { status, statusCode, code, message, cause } = error as Record<string, unknown>
  const said = JSON.stringify([status, statusCode, code, message, cause])
  const found = [...(/\b503\b/.test(said) ? ['503'] : []), ...(/is full|did not come/.test(said) ? ['reason'] : [])]
  return found.length === 0 ? 'an error' : found.join(', ')
}

/** Refuses a client at once, with a status. */
export async function measureDoor(client: Client, options: Partial<OwnQueueOptions> = {}): Promise<Finding> {
  const site = await Site.open({ maxQueueSize: 0, ...options })
  try {
    await site.gate.queue.acquire()
    const outcome = await outcomeOf(client.ask(site.url, () => undefined))
    return { cell: lesson(outcome), reason: outcome.error ?? outcome.text }
  } finally {
    await site.close()
  }
}

/** The stream is at its end: a client that has not noticed by now waits for its own time-out. */
async function patience(): Promise<undefined> {
  await new Promise((resolve) => setTimeout(resolve, 4000).unref())
}

/** Refuses a client that has been told of its wait. */
export async function measureStream(client: Client): Promise<Finding> {
  const site = await Site.open(waits.universal)
  try {
    await site.gate.queue.acquire()
    const asked = outcomeOf(client.ask(site.url, () => undefined))
    await site.untilWaiting(1)
    await site.clock.advance(0)
    expect(site.written).toContain('"position":1')
    await site.clock.advance(60_000)
    const outcome = await Promise.race([asked, patience()])
    if (outcome === undefined) return { cell: 'hangs', reason: outcome }
    return { cell: lesson(outcome), reason: outcome.error ?? outcome.text }
  } finally {
    await site.close()
  }
}
