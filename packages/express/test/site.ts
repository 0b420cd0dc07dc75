import { createRequire } from 'node:module'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { expect, onTestFinished } from 'vitest'
import type { FairQueue } from '@fairqueue/core'
import { RawClient, type RawResponse } from '@fairqueue/test/kit/rawHttp'

const express4 = createRequire(import.meta.url)('express4') as typeof express

/** Both majors; every suite runs on each. */
export const expressVersions: readonly { readonly version: string; readonly framework: typeof express }[] = [
  { version: 'Express 5', framework: express },
  { version: 'Express 4', framework: express4 },
]

/** A server of a test's own, on a free port, gone when the test ends. */
export interface Site {
  readonly port: number
  readonly server: Server
  connect(): Promise<RawClient>
  /** One request on a connection of its own. */
  fetch(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<RawResponse>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
}

/** What a client sends that can read events. */
export const asksForEvents = { Accept: 'text/event-stream' } as const

/** Answers with what an error says. */
export const showErrors: ErrorRequestHandler = (error: Error, _req, res, _next) =>
  void res.status(500).send(error.message)

/** Starts a server with what `mount` puts on an app. */
export async function openSite(framework: typeof express, mount: (app: Express) => void): Promise<Site> {
  const app = framework()
  app.set('env', 'test')
  mount(app)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    server.closeAllConnections()
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
  return { port, server, connect, fetch, get: (path, headers) => fetch('GET', path, headers) }
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

/** Closes something when the test ends. */
export function closing<Closed extends { close(options?: { graceMs: number }): Promise<void> }>(
  closed: Closed,
): Closed {
  onTestFinished(() => closed.close({ graceMs: 0 }))
  return closed
}
