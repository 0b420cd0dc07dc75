import { prepareCall } from './call.js'
import { readOptions, type FetchInTurnInit, type Resolved, type RetryOptions } from './options.js'
import { pause } from './pause.js'
import { readRefusal, type RefusedError } from './refusal.js'
import { takeTurn } from './turn.js'

/**
 * `fetch` for a route behind a Fairqueue: waits for the request's turn, tells of the wait, comes back when it was refused for now or when the
 * connection broke, and resolves when the handler answers, with the handler's own response.
 *
 * Rejects as `fetch` does (with the signal's reason when it aborts, at any time), with a {@link RefusedError} when it was refused for good,
 * and with a `TypeError` that names the option and what it got.
 * @example
 * const response = await fetchInTurn('/chat', { method: 'POST', body, onQueue: ({ position }) => show(position) })
 */
export async function fetchInTurn(input: string | URL | Request, init: FetchInTurnInit = {}): Promise<Response> {
  const [request, options] = readOptions(init)
  const { onQueue, retry, throwRefusals } = options
  const call = prepareCall(input, request, options.fetch)
  for (let refusals = 0; ; refusals += 1) {
    const { response, refused } = await takeTurn(call, options)
    const refusal = await readRefusal(response, refused)
    if (refusal === null) return response
    const delayMs = call.repeatable && refusals < retry.limit ? delayAfter(refusal, retry) : null
    if (delayMs === null) {
      if (throwRefusals) throw refusal
      return response
    }
    onQueue({ state: 'refused', position: null, etaMs: delayMs })
    await pause(delayMs, call.signal)
  }
}

/** Never shorter than the server said. Null: it did not say, or said too long. */
function delayAfter({ retryAfterMs }: RefusedError, { maxDelayMs, jitter }: Resolved<RetryOptions>): number | null {
  if (retryAfterMs === null || retryAfterMs > maxDelayMs) return null
  // No timer waits longer than 2 ** 31 ms.
  return Math.min(retryAfterMs * (1 + jitter * Math.random()), 2 ** 31 - 1)
}
