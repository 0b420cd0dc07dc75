import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { Adapter, Compressed, Handler } from './adapter.js'
import { asksForEvents } from './site.js'
import { openTwins } from './twins.js'

const sides: readonly Compressed[] = ['outside', 'inside', 'on both sides']

const raw: Handler = (call) => {
  const res = call.raw()
  res.setHeader('Content-Type', 'text/event-stream')
  res.write('data: a\n\n')
  setImmediate(() => res.end('data: b\n\n'))
}

const streamed: Handler = ({ stream }) =>
  stream(Readable.from(['data: a\n\n', 'data: b\n\n']), { headers: { 'Content-Type': 'text/event-stream' } })

const handlers: readonly (readonly [string, Handler])[] = [
  ["Node's response", raw],
  ['a stream', streamed],
]

export function compressionTests(adapter: Adapter): void {
  it.each(sides.flatMap((side) => handlers.map(([how, handler]) => [side, how, handler] as const)))(
    'B35: %s stays out of the events of the wait and of %s, and holds none back',
    async (compressed, _how, handler) => {
      const twins = await openTwins(adapter, { compressed, handler })
      // Resolves only if the first event arrives before the handler runs.
      const client = await twins.enter({ 'Accept-Encoding': 'gzip, deflate, br' })
      const { chunks, header } = await client.response()
      expect(header('content-encoding')).toBeUndefined()
      expect(chunks.slice(2)).toEqual(['data: a\n\n', 'data: b\n\n'])
      client.leave()
    },
  )

  it.each(sides)('%s works as ever for who is let in at once', async (compressed) => {
    const twins = await openTwins(adapter, { compressed, handler: ({ text }) => text('hello '.repeat(500)) })
    const client = (await twins.connect()).request('GET', '/gated', { ...asksForEvents, 'Accept-Encoding': 'gzip' })
    expect((await client.response()).header('content-encoding')).toBe('gzip')
    client.leave()
    const fetched = await fetch(`http://127.0.0.1:${twins.port}/gated`, { headers: { 'accept-encoding': 'gzip' } })
    expect(await fetched.text()).toBe('hello '.repeat(500))
  })
}
