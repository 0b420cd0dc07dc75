import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { expect, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { RawClient, type RawResponse } from '@fairqueue/test/kit/rawHttp'

/** A server of a test's own, on a free port, gone when the test ends. */
export interface Site {
  readonly app: FastifyInstance
  readonly port: number
  connect(): Promise<RawClient>
  /** One request on a connection of its own. */
  fetch(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<RawResponse>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
}

/** What a client sends that can read events. */
export const asksForEvents = { Accept: 'text/event-stream' } as const

/** Starts a server with what `mount` puts on an app. */
export async function openSite(
  mount: (app: FastifyInstance) => unknown,
  options: FastifyServerOptions = {},
): Promise<Site> {
  const app = fastify({ forceCloseConnections: true, ...options })
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  await mount(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const connect = (): Promise<RawClient> => RawClient.connect(port)
  const fetch: Site['fetch'] = async (method, path, headers, body) => {
    const client = await connect()
    const response = await client.request(method, path, headers, body).response(method)
    client.leave()
    return response
  }
  return { app, port, connect, fetch, get: (path, headers) => fetch('GET', path, headers) }
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

/** A queue that is closed when the test ends. */
export function closing(queue: FairQueue): FairQueue {
  onTestFinished(() => queue.close({ graceMs: 0 }))
  return queue
}
