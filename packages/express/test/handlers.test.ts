import type { RequestHandler, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { askBoth, cutBoth, finalEvent, type Comparison } from '@fairqueue/core/testing/adapter'
import { expressVersions, openTwins } from './site.js'

const SSE = 'text/event-stream'

describe.each(expressVersions)("Express' own ways of answering, behind an early head on $version", ({ framework }) => {
  const compare = async (mount: Parameters<typeof openTwins>[1]): Promise<Comparison> =>
    askBoth(await openTwins(framework, mount))

  it.each<[string, RequestHandler]>([
    ['res.send', (_req, res) => void res.type(SSE).send('data: a\n\n')],
    ['a status and end', (_req, res) => void res.status(200).type(SSE).end('data: a\n\n')],
  ])('Case 2: stream with %s, byte for byte', async (_what, handler) => {
    const { bare, answer, warnings } = await compare((app, gate, path) => app.get(path, gate, handler))
    expect(answer.body).toBe(bare.body)
    expect(warnings).toEqual([])
  })

  it.each<readonly [string, RequestHandler, string, object]>([
    ['res.json', (_req, res) => void res.json({ answer: 42 }), 'response', { status: 200, body: { answer: 42 } }],
    [
      'a status and a text',
      (_req, res) => void res.status(201).set('X-Own', 'yes').send('made'),
      'response',
      { status: 201, body: 'made', headers: { 'x-own': 'yes', 'content-type': 'text/html; charset=utf-8' } },
    ],
    ['204', (_req, res) => void res.sendStatus(204), 'response', { status: 204, body: null }],
    [
      'a cookie, which no script may see',
      (_req, res) => void res.cookie('a', 'b').json(1),
      'response',
      { body: 1, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    [
      'res.redirect',
      (_req, res) => res.redirect('/elsewhere'),
      'error',
      { status: 302, errorText: 'Found', location: '/elsewhere' },
    ],
    ['next()', (_req, _res, next) => next(), 'error', { status: 404, errorText: 'Not Found' }],
    [
      'next(err)',
      (_req, _res, next) => next(new Error('boom')),
      'error',
      {
        status: 500,
        errorText: 'Internal Server Error',
        error: { type: 'api_error', code: 500, message: 'Internal Server Error' },
      },
    ],
    [
      'next(err) with a status',
      (_req, _res, next) => next(Object.assign(new Error('closed'), { status: 403 })),
      'error',
      { status: 403, error: { type: 'permission_error', code: 403, message: 'Forbidden' } },
    ],
    ['a file that is not there', (_req, res) => res.sendFile('/nowhere/at/all'), 'error', { status: 404 }],
  ])('Cases 12 and 13: answers with %s, as one last event', async (_what, handler, name, data) => {
    const { gated, answer } = await compare((app, gate, path) => app.get(path, gate, handler))
    const event = finalEvent(answer.body)
    expect(event.name).toBe(name)
    expect(event.data).toMatchObject(data)
    expect(gated.status).toBe(200)
    expect(answer.body).not.toContain('a=b')
  })

  it('Case 13: answers with res.sendFile, as one last event', async () => {
    const { bare, answer } = await compare((app, gate, path) => {
      app.get(path, gate, (_req, res) => res.sendFile(new URL('../package.json', import.meta.url).pathname))
    })
    expect(finalEvent(answer.body).data).toMatchObject({ status: 200, body: JSON.parse(bare.body) })
  })

  it('Case 12: answers through an error handler of the app, as one last event', async () => {
    const { bare, answer } = await compare((app, gate, path) => {
      app.get(path, gate, (_req, _res, next) => next(new Error('boom')))
      app.use(path, (error: Error, _req: unknown, res: Response, next: (error: unknown) => void) => {
        if (res.headersSent) next(error)
        else res.status(502).json({ detail: error.message })
      })
    })
    expect(JSON.parse(bare.body)).toEqual({ detail: 'boom' })
    expect(finalEvent(answer.body).data).toMatchObject({ status: 502, errorText: 'boom', body: { detail: 'boom' } })
  })

  it('Case 14: are cut by next(err) after their first byte, as without a queue', async () => {
    const twins = await openTwins(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res, next) => {
        res.type(SSE).write('data: a\n\n')
        setImmediate(() => next(new Error('boom')))
      })
    })
    const { bare, gated } = await cutBoth(twins)
    expect(bare).toEqual({ body: 'data: a\n\n', complete: false })
    expect(gated).toEqual(bare)
  })

  it('Case 14: are cut, and not ended cleanly, by an error thrown after their first byte', async () => {
    const twins = await openTwins(framework, (app, gate, path) => {
      app.get(path, gate, (_req, res) => {
        res.type(SSE).write('data: a\n\n')
        throw new Error('boom')
      })
    })
    const gated = await twins.enter()
    await gated.closed
    expect(gated.received).not.toMatch(/\r\n0\r\n\r\n$/)
  })
})
