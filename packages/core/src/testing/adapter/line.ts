import type { ServerResponse } from 'node:http'
import type { FairQueue } from '../../index.js'
import type { Adapter, AdapterOptions, Call, Handler } from './adapter.js'
import { deferred, openGate, openSite, type Site } from './site.js'
import { equal, eventually } from '../assertions.js'

/** A site whose one route has a gate for one request at a time. */
export interface Line {
  readonly site: Site
  readonly queue: FairQueue
}

export async function openOne(adapter: Adapter, handler: Handler, options: AdapterOptions = {}): Promise<Line> {
  const { gate, queue } = openGate(adapter, { concurrency: 1, ...options })
  const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
  return { site, queue }
}

/** A line whose one request has a handler that works until `finish`, and a client that has gone. */
export interface LeftLine extends Line {
  readonly res: ServerResponse
  readonly finish: () => void
}

export async function leaveWhileRunning(adapter: Adapter, options: AdapterOptions): Promise<LeftLine> {
  const work = deferred()
  const calls: Call[] = []
  const handler: Handler = async (call) => {
    calls.push(call)
    call.raw().write('first')
    await work.promise
  }
  const line = await openOne(adapter, handler, options)
  const client = (await line.site.connect()).request('GET', '/')
  await client.until('first')
  const { res, place } = calls[0]!
  client.leave()
  await eventually(() => equal(place.signal.aborted, true))
  return { ...line, res, finish: work.resolve }
}
