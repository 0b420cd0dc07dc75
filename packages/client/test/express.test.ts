import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { MemoryStore } from '@fairqueue/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchInTurn, type FetchInTurnInit, type QueueNews } from '@fairqueue/client'
import { eventually } from './rawServer.js'
import { openSite, type Site } from './site.js'

/** Sends a request, lets it wait and be told of it, then lets it in. */
async function inTurn(site: Site, path: string, init: FetchInTurnInit = {}): Promise<[Response, QueueNews[]]> {
  const news: QueueNews[] = []
  const holder = await site.hold()
  let toldOfWait = (): void => {}
  const told = new Promise<void>((resolve) => (toldOfWait = resolve))
  const onQueue = (one: QueueNews): void => {
    news.push(one)
    toldOfWait()
  }
  const response = fetchInTurn(site.url + path, { onQueue, ...init })
  response.catch(() => {})
  await told
  await holder.release()
  return [await response, news]
}

describe.each(['GET', 'POST'])('A route behind a real queue (%s)', (method) => {
  it("gives the handler's stream byte for byte, after place and estimate", async () => {
    const noise = randomBytes(300_000)
    const site = await openSite((app, gate) => {
      app.all('/', gate, (_req, res) => {
        res.type('text/event-stream')
        res.write(noise.subarray(0, 1))
        res.write(noise.subarray(1, 100_000))
        setImmediate(() => res.end(noise.subarray(100_000)))
      })
    })
    const [response, news] = await inTurn(site, '/', { method })
    const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
    expect(hash(new Uint8Array(await response.arrayBuffer()))).toBe(hash(noise))
    expect(news).toEqual([
      { state: 'waiting', position: 1, etaMs: null },
      { state: 'admitted', position: 0, etaMs: 0 },
    ])
  })

  it('gives other answers as the handler meant them', async () => {
    const site = await openSite((app, gate) => {
      app.all('/json', gate, (_req, res) => void res.status(201).set('x-mine', '1').json({ text: 'Grüße' }))
      app.all('/bytes', gate, (_req, res) => void res.type('image/png').send(Buffer.from([0, 255, 128])))
      app.all('/none', gate, (_req, res) => void res.status(204).end())
      app.all('/error', gate, () => {
        throw Object.assign(new Error('Not yours.'), { status: 403 })
      })
      app.all('/upstream', gate, (_req, res) => void res.status(502).json({ error: { message: 'It is away.' } }))
    })
    const [json] = await inTurn(site, '/json', { method })
    expect([json.status, json.headers.get('x-mine'), await json.json()]).toEqual([201, '1', { text: 'Grüße' }])
    const [bytes] = await inTurn(site, '/bytes', { method })
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 128])
    expect((await inTurn(site, '/none', { method }))[0].status).toBe(204)
    expect((await inTurn(site, '/error', { method }))[0].status).toBe(403)
    const [upstream] = await inTurn(site, '/upstream', { method })
    expect([upstream.status, await upstream.json()]).toEqual([502, { error: { message: 'It is away.' } }])
  })

  it('gives the response itself to who has not waited', async () => {
    const site = await openSite((app, gate) => {
      app.all('/', gate, (_req, res) => void res.cookie('a', 'b').json({ text: 'Hello' }))
    })
    const response = await fetchInTurn(site.url, { method })
    expect(await response.json()).toEqual({ text: 'Hello' })
    expect(response.headers.get('set-cookie')).toBe('a=b; Path=/')
  })

  it('tells a refusal alike, at the door and after the wait was told of', async () => {
    const site = await openSite((app, gate) => app.all('/', gate, (_req, res) => void res.end()), { maxQueueSize: 1 })
    await site.hold()
    const controller = new AbortController()
    const waiting = fetchInTurn(site.url, { method, signal: controller.signal, retry: false })
    await site.untilWaiting(1)
    const full = fetchInTurn(site.url, { method, retry: false })
    await expect(full).rejects.toMatchObject({ status: 503, code: 'FQ_QUEUE_FULL', retryAfterMs: 5000 })
    void site.gate.close({ graceMs: 0 })
    await expect(waiting).rejects.toMatchObject({ status: 503, code: 'FQ_DRAINING', body: { status: 503 } })
  })

  it('tells when to come back also where the server says what it likes', async () => {
    const site = await openSite((app, gate) => app.all('/', gate, (_req, res) => void res.end()), {
      message: 'Please come back.',
    })
    await site.hold()
    const waiting = fetchInTurn(site.url, { method, retry: false })
    await site.untilWaiting(1)
    void site.gate.close({ graceMs: 0 })
    const retryAfterMs = expect.any(Number) as number
    await expect(waiting).rejects.toMatchObject({ message: 'Please come back.', code: null, retryAfterMs })
  })

  it('frees the place when the signal aborts or the listener throws', async () => {
    let ran = 0
    const site = await openSite((app, gate) => {
      app.all('/', gate, (_req, res) => {
        ran += 1
        res.end()
      })
    })
    const holder = await site.hold()
    const controller = new AbortController()
    const left = fetchInTurn(site.url, { method, signal: controller.signal })
    left.catch(() => {})
    await site.untilWaiting(1)
    controller.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
    await site.untilWaiting(0)
    const onQueue = (): never => {
      throw new Error('mine')
    }
    await expect(fetchInTurn(site.url, { method, onQueue })).rejects.toThrow('mine')
    await site.untilWaiting(0)
    await holder.release()
    expect(ran).toBe(0)
  })
})

describe('A crowd', () => {
  it('runs one at a time, in the order of the line, and nobody is told a higher place than before', async () => {
    const order: string[] = []
    let running = 0
    const site = await openSite((app, gate) => {
      app.post('/', gate, (req, res) => {
        expect((running += 1)).toBe(1)
        order.push((req.body as { name: string }).name)
        res.type('text/event-stream').write('data: 1\n\n')
        setTimeout(() => {
          running -= 1
          res.end('data: 2\n\n')
        }, 2)
      })
    })
    const holder = await site.hold()
    const names = Array.from({ length: 20 }, (_, i) => `visitor ${i}`)
    const heard: number[][] = []
    const asked: Promise<string>[] = []
    for (const [number, name] of names.entries()) {
      const places: number[] = []
      heard.push(places)
      const answer = fetchInTurn(site.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
        onQueue: ({ position }) => places.push(position!),
      })
      asked.push(answer.then((response) => response.text()))
      await site.untilWaiting(number + 1)
    }
    await holder.release()
    expect(await Promise.all(asked)).toEqual(names.map(() => 'data: 1\n\ndata: 2\n\n'))
    expect(order).toEqual(names)
    for (const places of heard) {
      expect(places).toEqual(places.toSorted((a, b) => b - a))
      expect(places.at(-1)).toBe(0)
    }
  })
})

describe('A connection that breaks between client and real servers', () => {
  it('B36: is taken up again on another server, in the same place, and the handler runs once', async () => {
    const store = new MemoryStore()
    const ran: string[] = []
    const open = async (): Promise<Site> =>
      openSite(
        (app, gate) => {
          app.post('/', gate, (req, res) => {
            ran.push(String(req.get('x-who')))
            res.json({ text: 'done' })
          })
        },
        { name: 'chat', store },
      )
    const [one, other] = [await open(), await open()]
    const holder = await one.hold()
    // A balancer whose first server dies while the request waits.
    const sockets: Socket[] = []
    let port = Number(new URL(one.url).port)
    const balancer = createServer((client) => {
      const upstream = connect(port, '127.0.0.1')
      sockets.push(client, upstream)
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
      client.pipe(upstream).pipe(client)
    })
    balancer.listen(0, '127.0.0.1')
    await once(balancer, 'listening')
    onTestFinished(() => void balancer.close())
    const news: QueueNews[] = []
    const answer = fetchInTurn(`http://127.0.0.1:${(balancer.address() as AddressInfo).port}/`, {
      method: 'POST',
      headers: { 'x-who': 'first' },
      onQueue: (told) => news.push(told),
    })
    await eventually(() => news.length).toBe(1)
    const behind = fetchInTurn(other.url, { method: 'POST', headers: { 'x-who': 'behind' } })
    await one.untilWaiting(2)
    port = Number(new URL(other.url).port)
    for (const socket of sockets) socket.destroy()
    await eventually(() => news.length).toBeGreaterThan(1)
    await holder.release()
    expect(await (await answer).json()).toEqual({ text: 'done' })
    await behind
    expect(ran).toEqual(['first', 'behind'])
    expect(news.map(({ state, position }) => [state, position])).toEqual([
      ['waiting', 1],
      ['waiting', 1],
      ['admitted', 0],
    ])
  })
})
