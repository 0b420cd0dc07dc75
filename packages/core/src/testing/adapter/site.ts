import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { FairQueue } from '../../index.js'
import { RawClient, type RawResponse } from './rawHttp.js'
import type { Adapter, AdapterGate, AdapterOptions, AnyRequest, Application, Plan } from './adapter.js'
import { equal, eventually } from '../assertions.js'
import { afterTest } from '../suite.js'

/** A server of a test's own, on a free port. */
export interface Site {
  readonly port: number
  readonly server: Server
  readonly listener: RequestListener
  connect(): Promise<RawClient>
  /** One request on a connection of its own. */
  fetch(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<RawResponse>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
  /** Ends all connections and the application. */
  close(this: void): Promise<void>
}

/** What a client sends that can read events. */
export const asksForEvents = { Accept: 'text/event-stream' } as const

/** Builds an application from a plan, for as long as the test lasts. */
export async function openSite(adapter: Adapter, plan: Plan): Promise<Site> {
  const site = siteOf(await adapter.open(plan))
  afterTest(site.close)
  return site
}

/** An application that listens. */
export function siteOf(application: Application): Site {
  const { server, listener } = application
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    // HTTP/2 has no such method: there the clients end their sessions.
    ;(server as Partial<Server>).closeAllConnections?.()
    await application.close?.()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  const connect = (): Promise<RawClient> => RawClient.connect(port)
  const fetch: Site['fetch'] = async (method, path, headers, body) => {
    const client = await connect()
    const response = await client.request(method, path, headers, body).response(method)
    client.leave()
    return response
  }
  return { port, server, listener, connect, fetch, get: (path, headers) => fetch('GET', path, headers), close }
}

/** A gate with a queue of its own, closed when the test ends. */
export function openGate(
  adapter: Adapter,
  options: AdapterOptions,
): { readonly gate: AdapterGate; readonly queue: FairQueue } {
  const gate = closing(adapter.gate(options))
  return { gate, queue: gate.queue! }
}

/** Closes something when the test ends. */
export function closing<Closed extends { close(options: { readonly graceMs: number }): Promise<void> }>(
  closed: Closed,
): Closed {
  afterTest(() => closed.close({ graceMs: 0 }))
  return closed
}

/** Waits until so many tickets stand in the line. */
export async function waitingIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => equal((await queue.status()).waiting, count))
}

/** Waits until so many permits are in use. */
export async function runningIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => equal((await queue.status()).running, count))
}

/** A moment in which what must not happen has every chance to. */
export async function moment(ms = 20): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** A value of a request's query. */
export function queried({ originalUrl }: Pick<AnyRequest, 'originalUrl'>, name: string): string | undefined {
  return new URL(originalUrl, 'http://a').searchParams.get(name) ?? undefined
}

/** A header of a request. */
export function headerOf({ headers }: Pick<AnyRequest, 'headers'>, name: string): string | undefined {
  return headers[name] as string | undefined
}

/** Something that a test lets happen when it wants. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
