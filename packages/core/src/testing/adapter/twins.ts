import type { RawClient, RawResponse } from './rawHttp.js'
import type { Adapter, AdapterGate, AdapterOptions, Handler, Layer, Route } from './adapter.js'
import { asksForEvents, closing, openSite, type Site } from './site.js'

/** The event that ends the wait; what follows is the handler's. */
const ADMITTED = '"state":"admitted"'

/** A site with the same route twice: under `/bare`, and under `/gated` behind a queue whose only place the test holds. */
export interface Twins extends Site {
  /** What was warned of. */
  readonly warnings: readonly string[]
  /** Sends a request that gets the early head, then lets it in. */
  enter(headers?: Readonly<Record<string, string>>): Promise<RawClient>
}

/** Options of the gate of twins. */
export type TwinOptions = Required<
  Pick<AdapterOptions, 'statusDelayMs' | 'statusIntervalMs' | 'logger' | 'concurrency'>
>

/** Makes the gate of twins, and the site with it. */
export async function twinsOf<Gate extends AdapterGate>(
  makeGate: (options: TwinOptions) => Gate,
  open: (gate: Gate) => Promise<Site>,
): Promise<Twins> {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message) }
  const gate = makeGate({ concurrency: 1, statusDelayMs: 0, statusIntervalMs: '1m', logger })
  const site = await open(gate)
  const enter: Twins['enter'] = async (headers = {}) => {
    const holder = await gate.queue!.acquire()
    const client = await site.connect()
    client.request('GET', '/gated', { ...asksForEvents, ...headers })
    await client.until('"state":"waiting"')
    await holder.release()
    return client
  }
  return { ...site, warnings, enter }
}

/** What a route of twins does, and what stands around it. */
export interface TwinsPlan extends Pick<Route, 'compressed'> {
  readonly handler: Handler
  readonly layers?: readonly Layer[]
  readonly headers?: Readonly<Record<string, string>>
  readonly showErrors?: boolean
}

export async function openTwins(adapter: Adapter, plan: TwinsPlan): Promise<Twins> {
  const { handler, compressed, ...around } = plan
  const route = { handler, ...(compressed !== undefined && { compressed }) }
  return twinsOf(
    (options) => closing(adapter.gate(options)),
    (gate) =>
      openSite(adapter, {
        ...around,
        routes: [
          { ...route, path: '/bare' },
          { ...route, path: '/gated', gate },
        ],
      }),
  )
}

/** What a client got that was told of its wait, and what the same handler sends without a queue. */
export interface Comparison {
  readonly gated: RawResponse
  readonly bare: RawResponse
  /** What is the handler's of the gated body. */
  readonly answer: { readonly body: string }
  readonly warnings: readonly string[]
}

/** Asks both twins. */
export async function askBoth(twins: Twins): Promise<Comparison> {
  const bare = await twins.get('/bare', asksForEvents)
  const client = await twins.enter()
  const gated = await client.response()
  client.leave()
  return { gated, bare, answer: { body: afterWait(gated.body) }, warnings: twins.warnings }
}

/** What follows the events of a wait. @throws Error if nobody was let in */
export function afterWait(body: string): string {
  const admitted = body.indexOf(ADMITTED)
  if (admitted < 0) throw new Error(`No wait ends here: ${JSON.stringify(body)}`)
  return body.slice(body.indexOf('\n\n', admitted) + 2)
}

/** Runs a handler without a queue and behind an early head. */
export async function compare(adapter: Adapter, plan: TwinsPlan | Handler): Promise<Comparison> {
  return askBoth(await openTwins(adapter, typeof plan === 'function' ? { handler: plan } : plan))
}

/** What both twins send as bodies, the gated one after its wait, when the connection of each is cut, and whether they came to their ends. */
export async function cutBoth(twins: Twins): Promise<{ readonly bare: Cut; readonly gated: Cut }> {
  const bare = (await twins.connect()).request('GET', '/bare', asksForEvents)
  const gated = await twins.enter()
  await Promise.all([bare.closed, gated.closed])
  const { body, complete } = gated.unfinished
  return { bare: bare.unfinished, gated: { body: afterWait(body), complete } }
}

type Cut = RawClient['unfinished']

/** The one event that an answer became. */
export function finalEvent(body: string): { readonly name: string; readonly data: Record<string, unknown> } {
  const [, name, data] = /^id: q:end\nevent: (\w+)\ndata: (.*)\n\n$/.exec(body) ?? []
  return { name: name!, data: JSON.parse(data!) as Record<string, unknown> }
}
