import type { Call } from './call.js'
import { responseOf } from './lateAnswer.js'
import type { WaitOptions } from './options.js'
import { pause } from './pause.js'
import { readQueueStream } from './queueStream.js'

/** What one stay in the line has led to. */
export interface Outcome {
  readonly response: Response
  /** Whether it is known that the queue, not the handler, has answered. */
  readonly refused: boolean
}

/** The pause before the first attempt to come back, and the longest between two; each is drawn at random from 0 up to so much. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000

/**
 * Sends the request and waits for its turn. When the connection breaks meanwhile, comes back with the ticket and goes on from the same place.
 * Once the turn has come nothing is sent again: the handler may have begun.
 */
export async function takeTurn(call: Call, { onQueue, resume }: WaitOptions): Promise<Outcome> {
  const { signal } = call
  /** The place that was left when the connection broke. */
  let left: { readonly ticket: string; readonly untilMs: number; attempts: number } | undefined
  let breaks = 0

  /** Waits a little before the next attempt; false: there is none. */
  const comesBack = async (): Promise<boolean> => {
    signal?.throwIfAborted()
    if (left === undefined || Date.now() >= left.untilMs) return false
    await pause(Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** left.attempts, LONGEST_PAUSE_MS), signal)
    left.attempts += 1
    return true
  }

  for (;;) {
    let response: Response
    try {
      response = await call.send(left?.ticket)
    } catch (error) {
      if (await comesBack()) continue
      throw error
    }
    if (left !== undefined) {
      const { status, body } = response
      // The server is not back yet behind its proxy.
      if ((status === 502 || status === 504) && (await comesBack())) {
        await body?.cancel()
        continue
      }
      if (status === 204 || status === 410) return { response: placeLost(), refused: true }
    }
    if (!response.body || !isEventStream(response)) return { response, refused: false }

    const turn = await readQueueStream(response.body, ({ state, position, etaMs }) =>
      onQueue({ state, position, etaMs }),
    )
    if (turn.kind === 'stream') return { response: withBody(response, turn.body), refused: false }
    if (turn.kind === 'late') {
      const late = responseOf(turn.answer)
      return { response: late, refused: !turn.admitted && !late.ok }
    }
    const { ticket, error } = turn
    breaks += 1
    left =
      ticket === undefined || !call.repeatable || breaks > resume.limit
        ? undefined
        : { ticket, untilMs: Date.now() + resume.graceMs, attempts: 0 }
    if (!(await comesBack())) throw error
  }
}

function isEventStream({ status, headers }: Response): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}

/** The same response with a body of which the beginning has been taken. */
function withBody(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  return Object.defineProperty(new Response(body, response), 'url', { value: response.url })
}

/** The ticket means nothing to the server any more. Whether the handler ran on it nobody can tell here, so nothing is sent again. */
function placeLost(): Response {
  const detail = 'The place in the line was lost while the connection was broken.'
  return Response.json({ detail, code: 'FQ_PLACE_LOST' }, { status: 410 })
}
