import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetchInTurn, RefusedError } from '@fairqueue/client'
import { createParser } from 'eventsource-parser'
import { answerText } from './answerText.js'
import type { Happening } from './entry.js'
import type { Berth } from './fleet.js'
import type { LogWriter } from './log.js'
import type { Random } from './random.js'

type Answered = Omit<Extract<Happening, { readonly what: 'answered' }>, 'what' | 'request'>

/** A request, before it is sent. */
interface Errand {
  readonly request: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly random: Random
  /** Where there is a server, or was one a moment ago. */
  readonly port: () => number
  readonly deadline: AbortSignal
}

/** How clients differ; each sends one request and says how it ended. */
const KINDS: Readonly<Record<string, (errand: Errand) => Promise<Answered>>> = {
  silent: (errand) => sendOnce(errand),
  impatient: (errand) => sendOnce(withHeaders(errand, { 'x-max-wait': String(errand.random.integer(0, 500)) })),
  heavy: (errand) => sendOnce(withHeaders(errand, { 'x-permits': '2' })),
  watching: (errand) => sendOnce(withHeaders(errand, { accept: 'text/event-stream' })),
  leaving: (errand) => sendOnce(errand, errand.random.between(0, 1500)),
  leavingStream: (errand) =>
    sendOnce(withHeaders(errand, { accept: 'text/event-stream' }), errand.random.between(0, 1500)),
  hanging: (errand) => sendOnce(withHeaders(errand, { 'x-work': '60000' })),
  slow: (errand) => sendOnce(withHeaders(errand, { 'x-big': '1' }), undefined, errand.random.between(200, 2500)),
  returning: sendInTurn,
  accepting: sendAndLook,
}

/** The hanging ones take much of what there is; the others come by turns. */
const FREQUENT = Object.keys(KINDS).filter((kind) => kind !== 'hanging')

/** Longer than any answer may take: its wait, the longest lease, the graces, and a server that is stopped meanwhile. */
const DEADLINE_MS = 45_000

/** One client after the other, until told to stop. Resolves when the last has its answer. */
export async function sendRequests(
  name: string,
  random: Random,
  berths: readonly Berth[],
  log: LogWriter,
  isOver: () => boolean,
): Promise<void> {
  for (let count = 1; !isOver(); count += 1) {
    const request = `${name}-${count}`
    const kind = random.chance(0.004) ? 'hanging' : random.pick(FREQUENT)
    const headers = { 'x-request': request, 'x-client': name, 'x-work': String(workMs(random)) }
    let berth = random.pick(berths)
    const errand: Errand = {
      request,
      path: random.pick(['/wrapped', '/mounted']),
      headers,
      random,
      port: () => {
        const { port } = berth
        // The next time elsewhere.
        berth = random.pick(berths)
        return port
      },
      deadline: AbortSignal.timeout(DEADLINE_MS),
    }
    log.note({ what: 'asked', request, kind, process: berth.name })
    const answered = await KINDS[kind]!(errand)
    log.note({ what: 'answered', request, ...answered })
    // Whoever finds nobody should not ask a thousand times.
    await sleep(answered.ending === 'unreachable' ? 300 : random.between(0, 400))
  }
}

function workMs(random: Random): number {
  return random.chance(0.1) ? random.integer(500, 2000) : random.integer(5, 200)
}

function withHeaders(errand: Errand, headers: Record<string, string>): Errand {
  return { ...errand, headers: { ...errand.headers, ...headers } }
}

/** One request on one connection. It may leave after a while, or pause in the middle of the answer. */
async function sendOnce(errand: Errand, leaveAfterMs?: number, pauseMs?: number): Promise<Answered> {
  const request = httpRequest({
    port: errand.port(),
    host: '127.0.0.1',
    path: errand.path,
    method: 'POST',
    agent: false,
    headers: errand.headers,
  })
  let left = false
  const leave = setTimeout(
    () => {
      left = true
      request.destroy()
    },
    leaveAfterMs ?? 2 ** 30,
  )
  const giveUp = (): void => void request.destroy()
  errand.deadline.addEventListener('abort', giveUp)
  request.end()
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const body = await readBody(response, pauseMs)
    return judge(errand, response.statusCode!, String(response.headers['content-type']), body)
  } catch (error) {
    if (left) return { ending: 'left' }
    if (errand.deadline.aborted) return { ending: 'unanswered' }
    return broken(error)
  } finally {
    clearTimeout(leave)
    errand.deadline.removeEventListener('abort', giveUp)
  }
}

async function readBody(response: IncomingMessage, pauseMs: number | undefined): Promise<string> {
  let body = ''
  let paused = pauseMs === undefined
  response.setEncoding('utf8')
  for await (const chunk of response) {
    body += String(chunk)
    if (paused) continue
    paused = true
    await sleep(pauseMs)
  }
  return body
}

function broken(error: unknown): Answered {
  const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: Error }
  const detail = `${code ?? message} ${cause?.message ?? ''}`.trim()
  return { ending: code === 'ECONNREFUSED' ? 'unreachable' : 'cut', detail }
}

/** What a whole answer says. */
function judge({ request }: Errand, status: number, type: string, body: string): Answered {
  if (status === 200 && body.endsWith(answerText(request, 'served'))) return { ending: 'served', ...watched(body) }
  if (status === 200 && body.endsWith(answerText(request, 'interrupted')))
    return { ending: 'interrupted', ...watched(body) }
  if (status === 200 && type.startsWith('text/event-stream')) return judgeStream(body)
  return judgeRefusal(status, body)
}

function judgeRefusal(status: number, body: string): Answered {
  const code = codeOf(body)
  if (status === 410 && code === 'FQ_PLACE_LOST') return { ending: 'placeLost' }
  if ((status === 503 || status === 429) && code !== undefined) return { ending: 'refused', code }
  return { ending: 'odd', detail: `${status} ${body.slice(-300)}` }
}

function codeOf(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body) as { code?: string }
    return code
  } catch {
    return undefined
  }
}

interface Read {
  readonly error?: { readonly status: number; readonly body: { readonly code?: string } }
  readonly rose?: string
}

/** The queue's events of a stream. A shown position never rises. */
function watched(stream: string): Read {
  const read: { -readonly [Name in keyof Read]: Read[Name] } = {}
  const positions: number[] = []
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'error') read.error = JSON.parse(data) as NonNullable<Read['error']>
      if (event !== 'queue') return
      const { position } = (JSON.parse(data) as { data: { position: number | null } }).data
      if (position !== null) positions.push(position)
    },
  })
  parser.feed(stream)
  if (positions.some((position, index) => position > (positions[index - 1] ?? Infinity))) read.rose = positions.join()
  return read
}

function judgeStream(body: string): Answered {
  const { error, ...rest } = watched(body)
  if (error === undefined) return { ending: 'odd', detail: `a stream without an end: ${body.slice(-300)}`, ...rest }
  return { ...judgeRefusal(error.status, JSON.stringify(error.body)), ...rest }
}

/** The client package, whose connections break while it waits; it comes back to any server. */
async function sendInTurn(errand: Errand): Promise<Answered> {
  const { random } = errand
  // What breaks after the turn has come is not sent again: from then on the line is left alone.
  let admitted = false
  const fetchElsewhere: typeof fetch = async (url, init) => {
    const target = new URL(url as string)
    target.port = String(errand.port())
    const connection = new AbortController()
    const signal = AbortSignal.any([connection.signal, errand.deadline])
    const breaks = setTimeout(
      () => !admitted && connection.abort(new Error('broken on purpose')),
      random.between(100, 3000),
    )
    breaks.unref()
    return await fetch(target, { ...init, signal })
  }
  try {
    const response = await fetchInTurn(`http://127.0.0.1${errand.path}`, {
      method: 'POST',
      headers: errand.headers,
      fetch: fetchElsewhere,
      resume: { graceMs: 3000 },
      retry: { limit: 1, maxDelayMs: 3000 },
      onQueue: ({ state }) => {
        if (state === 'admitted') admitted = true
      },
    })
    // Without a word of the queue it was let in at once.
    admitted = true
    const { status, headers } = response
    return judge(errand, status, headers.get('content-type') ?? '', await response.text())
  } catch (error) {
    if (error instanceof RefusedError) {
      if (error.code === 'FQ_PLACE_LOST') return { ending: 'placeLost' }
      if (error.code !== null) return { ending: 'refused', code: error.code }
      return { ending: 'odd', detail: `${error.status} ${error.message}` }
    }
    if (errand.deadline.aborted) return { ending: 'unanswered' }
    return brokenFetch(error)
  }
}

function brokenFetch(error: unknown): Answered {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
  if (message === 'broken on purpose') return { ending: 'left' }
  return broken(cause ?? error)
}

/** Holds no connection: asks for 202 Accepted, looks now and then, and claims its turn. Some look no more, some never claim. */
async function sendAndLook(errand: Errand): Promise<Answered> {
  const { random, deadline } = errand
  const send = async (path: string, headers: Record<string, string>): Promise<Response> =>
    await fetch(`http://127.0.0.1:${errand.port()}${path}`, {
      method: 'POST',
      headers: { ...errand.headers, connection: 'close', ...headers },
      signal: deadline,
    })
  try {
    const first = await send(errand.path, { prefer: 'respond-async' })
    if (first.status !== 202)
      return judge(errand, first.status, first.headers.get('content-type') ?? '', await first.text())
    const { ticket } = (await first.json()) as { ticket: string }
    const path = `${errand.path}${first.headers.get('location')!}`
    const looks = random.chance(0.2) ? random.integer(1, 5) : Infinity
    for (let look = 0; look < looks; look += 1) {
      await sleep(random.between(100, 900))
      let answer: Response
      try {
        answer = await send(path, {})
      } catch (error) {
        // This server may be gone; the place may be there all the same.
        if (deadline.aborted || look > 20) throw error
        continue
      }
      const body = await answer.text()
      if (answer.status === 503) continue
      if (answer.status !== 200) return judgeRefusal(answer.status, body)
      const { state } = JSON.parse(body) as { state?: string }
      if (state === 'reserved') {
        const claimed = await send(errand.path, { 'fairqueue-ticket': ticket })
        return judge(errand, claimed.status, claimed.headers.get('content-type') ?? '', await claimed.text())
      }
      if (state !== 'waiting') return { ending: 'odd', detail: `state ${String(state)}` }
    }
    return { ending: 'left' }
  } catch (error) {
    if (deadline.aborted) return { ending: 'unanswered' }
    return brokenFetch(error)
  }
}
