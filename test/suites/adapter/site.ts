import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { RawClient, type RawResponse } from '../../kit/rawHttp.js'
import type { Adapter, AdapterGate, AdapterOptions, AnyRequest, Application, Plan } from './adapter.js'

/** A server of a test's own, on a free port, gone when the test ends. */
export interface Site {
  readonly port: number
  readonly server: Server
  readonly listener: RequestListener
  connect(): Promise<RawClient>
  /** One request on a connection of its own. */
  fetch(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<RawResponse>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
}

/** What a client sends that can read events. */
export const asksForEvents = { Accept: 'text/event-stream' } as const

/** Builds an application from a plan, for as long as the test lasts. */
export async function openSite(adapter: Adapter, plan: Plan): Promise<Site> {
  return siteOf(await adapter.open(plan))
}

/** An application that listens, for as long as the test lasts. */
export function siteOf(application: Application): Site {
  const { server, listener } = application
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    // HTTP/2 has no such method: there the clients end their sessions.
    ;(server as Partial<Server>).closeAllConnections?.()
    await application.close?.()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  })
  const connect = (): Promise<RawClient> => RawClient.connect(port)
  const fetch: Site['fetch'] = async (method, path, headers, body) => {
    const client = await connect()
    const response = await client.request(method, path, headers, body).response(method)
    client.leave()
    return response
  }
  return { port, server, listener, connect, fetch, get: (path, headers) => fetch('GET', path, headers) }
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
  onTestFinished(() => closed.close({ graceMs: 0 }))
  return closed
}

/** Expects something of a value that may still have to become so; patient, for machines that are busy. */
export function eventually<Value>(read: () => Value | Promise<Value>): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 2, timeout: 10_000 })
}

/** Waits until so many tickets stand in the line. */
export async function waitingIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => (await queue.status()).waiting).toBe(count)
}

/** Waits until so many permits are in use. */
export async function runningIs(queue: FairQueue, count: number): Promise<void> {
  await eventually(async () => (await queue.status()).running).toBe(count)
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
