import { Readable } from 'node:stream'

import type { Adapter, Compressed, Handler } from './adapter.js'
import { asksForEvents, deferred } from './site.js'
import { afterWait, openTwins } from './twins.js'
import { equal } from '../assertions.js'
import { test } from '../suite.js'

const sides: readonly Compressed[] = ['outside', 'inside', 'on both sides']

/** Handlers that send a second event when the first one has been seen. */
const handlers: readonly (readonly [string, (seen: Promise<void>) => Handler])[] = [
  [
    "Node's response",
    (seen) => (call) => {
      const res = call.raw()
      res.setHeader('Content-Type', 'text/event-stream')
      res.write('data: a\n\n')
      void seen.then(() => res.end('data: b\n\n'))
    },
  ],
  [
    'a stream',
    (seen) =>
      ({ stream }) =>
        stream(Readable.from(events(seen)), { headers: { 'Content-Type': 'text/event-stream' } }),
  ],
]

async function* events(seen: Promise<void>): AsyncGenerator<string> {
  yield 'data: a\n\n'
  await seen
  yield 'data: b\n\n'
}

export function compressionTests(adapter: Adapter): void {
  test.each(sides.flatMap((side) => handlers.map(([how, handler]) => [side, how, handler] as const)))(
    'Case 17, B35: %s stays out of the events of the wait and of %s, and holds none back',
    async (compressed, _how, handler) => {
      const seen = deferred()
      const twins = await openTwins(adapter, { compressed, handler: handler(seen.promise) })
      // Each step needs that what was written before has arrived.
      const client = await twins.enter({ 'Accept-Encoding': 'gzip, deflate, br' })
      await client.until('data: a')
      seen.resolve()
      const { body, header } = await client.response()
      equal(header('content-encoding'), undefined)
      equal(afterWait(body), 'data: a\n\ndata: b\n\n')
      client.leave()
    },
  )

  test.each(sides)('%s works as ever for who is let in at once', async (compressed) => {
    const twins = await openTwins(adapter, { compressed, handler: ({ text }) => text('hello '.repeat(500)) })
    const client = (await twins.connect()).request('GET', '/gated', { ...asksForEvents, 'Accept-Encoding': 'gzip' })
    equal((await client.response()).header('content-encoding'), 'gzip')
    client.leave()
    const fetched = await fetch(`http://127.0.0.1:${twins.port}/gated`, { headers: { 'accept-encoding': 'gzip' } })
    equal(await fetched.text(), 'hello '.repeat(500))
  })
}
