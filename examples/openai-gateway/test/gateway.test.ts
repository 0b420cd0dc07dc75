import { once } from 'node:events'
import { APIUserAbortError, AuthenticationError, InternalServerError, RateLimitError } from 'openai'
import { describe, expect, it } from 'vitest'
import { fetchInTurn } from '@fairqueue/client'
import { Gateway } from './gateway.js'
import { eventually, Upstream } from './upstream.js'

const question = (content: string): { model: string; messages: { role: 'user'; content: string }[] } => ({
  model: 'm',
  messages: [{ role: 'user', content }],
})

describe('The gateway', () => {
  it('sends requests on with its own key, one at a time, in the order in which they came', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1' })
    const openai = gateway.client()
    const answers: Promise<string | null>[] = []
    for (const [number, name] of ['first', 'second', 'third'].entries()) {
      const completion = openai.chat.completions.create(question(name))
      answers.push(completion.then(({ choices }) => choices[0]!.message.content))
      await gateway.untilCounts(1, number)
    }
    for (const number of [0, 1, 2]) {
      const { headers, url, body } = await upstream.request(number)
      expect(upstream.asked).toHaveLength(number + 1)
      expect([url, headers.authorization]).toEqual(['/v1/chat/completions', 'Bearer secret'])
      upstream.asked[number]!.complete(`${(JSON.parse(body) as ReturnType<typeof question>).messages[0]!.content}!`)
    }
    expect(await Promise.all(answers)).toEqual(['first!', 'second!', 'third!'])
  })

  it('streams an answer piece by piece, with the headers of the service', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started(upstream.env)
    const asked = gateway
      .client()
      .chat.completions.create({ ...question('?'), stream: true })
      .withResponse()
    const service = await upstream.request(0)
    service.res.setHeader('x-request-id', 'r1')
    service.say('Hel')
    const { data, response } = await asked
    expect(response.headers.get('x-request-id')).toBe('r1')
    const pieces = data[Symbol.asyncIterator]()
    const next = async (): Promise<unknown> => {
      const { value, done } = await pieces.next()
      return done ? 'done' : value.choices[0]!.delta.content
    }
    expect(await next()).toBe('Hel')
    service.say('lo')
    expect(await next()).toBe('lo')
    service.finish()
    expect(await next()).toBe('done')
  })

  it('comes back to the service when it said so, and keeps the place meanwhile', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1' })
    const openai = gateway.client()
    const first = openai.chat.completions.create(question('first'))
    const refused = await upstream.request(0)
    const second = openai.chat.completions.create(question('second'))
    await gateway.untilCounts(1, 1)
    const refusedAtMs = performance.now()
    refused.refuse(429, { 'retry-after': '1' })
    const again = await upstream.request(1)
    expect(performance.now() - refusedAtMs).toBeGreaterThan(990)
    expect(again.body).toBe(refused.body)
    again.complete('Hello')
    expect((await first).choices[0]!.message.content).toBe('Hello')
    ;(await upstream.request(2)).complete('Hello, too')
    expect((await second).choices[0]!.message.content).toBe('Hello, too')
  })

  it('hands errors on as they are, among them a 429 that lasts too long', async () => {
    const upstream = await Upstream.started()
    const openai = (await Gateway.started(upstream.env)).client()
    const limited = openai.chat.completions.create(question('?'))
    ;(await upstream.request(0)).refuse(429, { 'retry-after': '3600' })
    await expect(limited).rejects.toBeInstanceOf(RateLimitError)
    await expect(limited).rejects.toMatchObject({ code: 'rate_limit_exceeded', error: { message: 'Slow down.' } })
    const wrong = openai.chat.completions.create(question('?'))
    ;(await upstream.request(1)).refuse(401, {})
    await expect(wrong).rejects.toBeInstanceOf(AuthenticationError)
  })

  it("says in OpenAI's form that the line is full, and when to come back", async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1', MAX_QUEUE_SIZE: '0' })
    const openai = gateway.client()
    const running = openai.chat.completions.create(question('first'))
    const service = await upstream.request(0)
    const refused = openai.chat.completions.create(question('second'))
    await expect(refused).rejects.toBeInstanceOf(InternalServerError)
    await expect(refused).rejects.toMatchObject({ status: 503, code: 'FQ_QUEUE_FULL', type: 'overloaded_error' })
    const retryAfter = refused.catch((error: InternalServerError) => error.headers.get('retry-after'))
    expect(await retryAfter).toMatch(/^\d+$/)
    service.complete('Hello')
    expect((await running).choices[0]!.message.content).toBe('Hello')
  })

  it('aborts at the service when a client leaves, and frees the place of one that waits', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1' })
    const [leave, giveUp] = [new AbortController(), new AbortController()]
    const running = gateway.client().chat.completions.create(question('first'), { signal: leave.signal })
    const { res } = await upstream.request(0)
    const waiting = gateway.client().chat.completions.create(question('second'), { signal: giveUp.signal })
    waiting.catch(() => {})
    await gateway.untilCounts(1, 1)
    giveUp.abort()
    // Only then may the place become free: the one that waits would be let in.
    await gateway.untilCounts(1, 0)
    const closed = once(res, 'close')
    leave.abort()
    await expect(running).rejects.toBeInstanceOf(APIUserAbortError)
    await closed
    await gateway.untilCounts(0, 0)
    expect(upstream.asked).toHaveLength(1)
  })

  it('tells its place to a client that can hear it', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1' })
    const first = gateway.client().chat.completions.create(question('first'))
    const service = await upstream.request(0)
    const places: (number | null)[] = []
    const openai = gateway.client({
      fetch: (url, init) => fetchInTurn(url, { ...init, onQueue: ({ position }) => places.push(position) }),
    })
    const second = openai.chat.completions.create(question('second'))
    await eventually(() => places).toEqual([1])
    service.complete('Hello')
    await first
    ;(await upstream.request(1)).complete('Hello, too')
    expect((await second).choices[0]!.message.content).toBe('Hello, too')
    expect(places).toEqual([1, 0])
  })

  it('looks things up without a wait', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, CONCURRENCY: '1' })
    const running = gateway.client().chat.completions.create(question('first'))
    const service = await upstream.request(0)
    const models = gateway.client().models.list()
    const { res, url } = await upstream.request(1)
    expect(url).toBe('/v1/models')
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"m"}]}')
    expect((await models).data).toEqual([{ id: 'm' }])
    service.complete('Hello')
    await running
  })

  it('says so when the service cannot be reached', async () => {
    const gateway = await Gateway.started({ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'secret' })
    const asked = gateway.client().chat.completions.create(question('?'))
    await expect(asked).rejects.toMatchObject({ status: 502, error: { message: 'The upstream cannot be reached.' } })
  })

  it('lets nobody in without its key, nor out of its path', async () => {
    const upstream = await Upstream.started()
    const gateway = await Gateway.started({ ...upstream.env, GATEWAY_KEY: 'gate' })
    await expect(gateway.client().models.list()).rejects.toBeInstanceOf(AuthenticationError)
    const headers = { authorization: 'Bearer gate' }
    for (const path of ['/v1/%2e%2e/admin', '/v1/x/%2E%2E/%2e%2e/admin'])
      expect((await fetch(gateway.url + path, { headers })).status).toBe(404)
    expect(upstream.asked).toEqual([])
    await expect(Gateway.started({ ...upstream.env, HOST: '0.0.0.0' })).rejects.toThrow('Set GATEWAY_KEY')
  })

  it('answers by itself when no key is set, through its own limit, and ends by a signal', async () => {
    const gateway = await Gateway.started()
    const openai = gateway.client()
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['fake-1'])
    const stream = openai.chat.completions.stream(question('Who is there?'))
    // One more than the fake allows within a second.
    const other = openai.chat.completions.create(question('And there?'))
    expect(await stream.finalContent()).toMatch(/^No key is set/)
    expect((await other).choices[0]!.message.content).toMatch(/^No key is set/)
    gateway.process.kill('SIGTERM')
    expect(await once(gateway.process, 'exit')).toEqual([0, null])
  })
})
