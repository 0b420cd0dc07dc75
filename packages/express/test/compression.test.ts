import compression from 'compression'
import type { RequestHandler } from 'express'
import { describe, expect, it } from 'vitest'
import { openTwins } from './behindEarlyHead.js'
import { asksForEvents, expressVersions } from './site.js'

const GZIP = { 'Accept-Encoding': 'gzip, deflate, br' }
const pass: RequestHandler = (_req, _res, next) => next()
const layer = (): RequestHandler => compression({ threshold: 0, filter: () => true })

const stream: RequestHandler = (_req, res) => {
  res.type('text/event-stream')
  res.write('data: a\n\n')
  setImmediate(() => res.end('data: b\n\n'))
}

describe.each(expressVersions)('Compression around a queue on $version', ({ framework }) => {
  it.each<[string, () => RequestHandler, () => RequestHandler]>([
    ['outside', layer, () => pass],
    ['inside', () => pass, layer],
    ['on both sides', layer, layer],
  ])('B35: stays out of the stream when it stands %s, and holds no event back', async (_where, outer, inner) => {
    const twins = await openTwins(framework, (app, gate, path) => app.get(path, outer(), gate, inner(), stream))
    // Resolves only if the first event arrives before the handler runs.
    const client = await twins.enter('GET', GZIP)
    const { chunks, header } = await client.response()
    expect(header('content-encoding')).toBeUndefined()
    expect(chunks.slice(2)).toEqual(['data: a\n\n', 'data: b\n\n'])
    client.leave()
  })

  it.each<[string, () => RequestHandler, () => RequestHandler]>([
    ['outside', layer, () => pass],
    ['inside', () => pass, layer],
  ])('works as ever for who is let in at once, when it stands %s', async (_where, outer, inner) => {
    const twins = await openTwins(framework, (app, gate, path) => {
      app.get(path, outer(), gate, inner(), (_req, res) => void res.send('hello '.repeat(100)))
    })
    const client = (await twins.connect()).request('GET', '/gated', { ...asksForEvents, 'Accept-Encoding': 'gzip' })
    await client.until('\r\n0\r\n\r\n')
    const { received } = client
    expect(received).toMatch(/content-encoding: gzip/i)
    client.leave()
    const fetched = await fetch(`http://127.0.0.1:${twins.port}/gated`, { headers: { 'accept-encoding': 'gzip' } })
    expect(await fetched.text()).toBe('hello '.repeat(100))
  })
})
