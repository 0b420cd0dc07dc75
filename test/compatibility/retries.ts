import { expect, vi } from 'vitest'
import type { OwnQueueOptions } from '@fairqueue/express'
import type { Client } from './clients/client.js'
import { NO_TIMEOUT_MS } from './clients/retrying.js'
import { lesson, outcomeOf } from './measure.js'
import { Site } from './site.js'

/** What a client does that is refused. */
interface Retries {
  /** How long it waits before each time that it comes back, in whole seconds. */
  readonly pausesS: readonly number[]
  /** What its application has in the end. */
  readonly end: string
}

/**
 * Refuses a client until it has come back so often, or for ever. No time passes: where the client sets a timer before it comes back, that is
 * noted and is over at once.
 */
async function refuse(
  client: Client,
  options: Partial<OwnQueueOptions>,
  { times }: { readonly times: number },
): Promise<Retries> {
  const site = await Site.open({ maxQueueSize: 0, retryAfter: { maxMs: '1m' }, ...options })
  const pausesS: number[] = []
  const { setTimeout } = globalThis
  try {
    const holder = await site.gate.queue.acquire()
    const pause = (callback: () => void, ms: number): void => {
      pausesS.push(Math.round(ms / 1000))
      if (pausesS.length === times) void holder.release()
      setImmediate(callback)
    }
    vi.stubGlobal('setTimeout', (callback: () => void, ms = 0, ...args: unknown[]) => {
      // Node's own fetch has timers, too.
      const isNodes = new Error('where').stack!.split('\n')[2]!.includes('node:')
      return isNodes || ms < 100 || ms >= NO_TIMEOUT_MS ? setTimeout(callback, ms, ...args) : pause(callback, ms)
    })
    const end = lesson(await outcomeOf(client.ask(site.url, () => undefined)))
    expect(site.requests).toBe(1 + pausesS.length)
    return { pausesS, end }
  } finally {
    vi.unstubAllGlobals()
    await site.close()
  }
}

/** A refusal as of a line that moves slowly. */
const slow: Partial<OwnQueueOptions> = {
  handler: (_req, res, _next, { message }) => void res.status(503).set('Retry-After', '90').json({ detail: message }),
}

export const retryColumns = ['client', 'comes back', 'told 5 s', 'told 90 s', 'free by then', 'refused each time']

const OFTEN = ['no', 'once', 'twice']

/** The cells of the table. */
export async function measureRetries(client: Client): Promise<string[]> {
  const often = await refuse(client, {}, { times: Infinity })
  const slowly = await refuse(client, slow, { times: Infinity })
  const once = await refuse(client, {}, { times: 1 })
  const after = ({ pausesS }: Retries): string => pausesS.map((pause) => `${pause} s`).join(', ')
  const cells = [OFTEN[often.pausesS.length]!, after(often), after(slowly), once.end, often.end]
  return often.pausesS.length === 0 ? ['no', '', '', '', often.end] : cells
}
