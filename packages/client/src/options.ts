import type { QueueNews } from './queueNews.js'

/** How often and how patiently a refused request comes back. */
export interface RetryOptions {
  /** How many refusals are followed by another try; 0: none. Default 3. */
  readonly limit?: number | undefined
  /** Who is told to stay away for longer than this gives up at once; milliseconds, default 60,000. */
  readonly maxDelayMs?: number | undefined
  /** Adds a random share, of up to so much of it, to each delay, so that those who were refused together do not return together. Default 0.25. */
  readonly jitter?: number | undefined
}

/** How a request whose connection broke while it waited takes up its place again. */
export interface ResumeOptions {
  /** How many broken connections one request survives; 0: none. Default 20. */
  readonly limit?: number | undefined
  /** How long it tries to come back after each; milliseconds, default 10,000, which is how long a server keeps the place. */
  readonly graceMs?: number | undefined
}

/** What `fetch` takes, and how to wait. */
export interface FetchInTurnInit extends RequestInit {
  /** Told of each change while the request waits. What it throws ends the request: its place is given up, and the promise rejects with it. */
  readonly onQueue?: ((news: QueueNews) => void) | undefined
  /** What follows a 429 or 503 that says when to come back (`Retry-After`). `false`: nothing. */
  readonly retry?: RetryOptions | false | undefined
  /** What follows a connection that breaks while the request waits. `false`: nothing, the promise rejects. */
  readonly resume?: ResumeOptions | false | undefined
  /** Whether the last refusal is thrown as a `RefusedError` (the default) or returned as a response with its status. */
  readonly throwRefusals?: boolean | undefined
  /** Sends each request; default the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options without gaps. */
export type Resolved<Options> = { readonly [Name in keyof Options]-?: number }

/** All that is this library's own of the options, without gaps. */
export interface WaitOptions {
  readonly onQueue: (news: QueueNews) => void
  readonly retry: Resolved<RetryOptions>
  readonly resume: Resolved<ResumeOptions>
  readonly throwRefusals: boolean
  readonly fetch: typeof globalThis.fetch
}

/** Separates what is `fetch`'s from what is ours. @throws TypeError naming the option and what it got */
export function readOptions(init: FetchInTurnInit): [RequestInit, WaitOptions] {
  const { onQueue = () => {}, retry, resume, throwRefusals = true, fetch = globalThis.fetch, ...rest } = init
  for (const [name, value] of Object.entries({ onQueue, fetch }))
    if (typeof value !== 'function') refuse(name, 'a function', value)
  return [
    rest,
    {
      onQueue,
      retry: readNumbers('retry', retry, { limit: 3, maxDelayMs: 60_000, jitter: 0.25 }),
      resume: readNumbers('resume', resume, { limit: 20, graceMs: 10_000 }),
      throwRefusals,
      fetch,
    },
  ]
}

/** `false` stands for a limit of 0. */
function readNumbers<Names extends string>(
  option: string,
  given: { readonly [Name in Names]?: number | undefined } | false | undefined,
  defaults: Record<Names, number>,
): Record<Names, number> {
  const read = { ...defaults }
  for (const [name, value] of Object.entries(given === false ? { limit: 0 } : (given ?? {}))) {
    if (name in read && typeof value === 'number' && value >= 0) read[name as Names] = value
    else if (value !== undefined) refuse(`${option}.${name}`, 'a number of 0 or more', value)
  }
  return read
}

function refuse(option: string, wanted: string, got: unknown): never {
  throw new TypeError(`The option "${option}" must be ${wanted}, got ${String(got)}.`)
}
