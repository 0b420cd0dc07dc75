import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '@fairqueue/core/testing'
import type { RawClient } from '@fairqueue/test/kit/rawHttp'
import type { Ticket, TicketStatus } from '@fairqueue/core'
import { universal } from '../../src/http/sseFormat.js'
import { StatusStream } from '../../src/http/statusStream.js'
import type { Visit } from '../../src/http/visit.js'
import { serve } from './server.js'

/** A ticket whose position the test sets. */
class TicketInHand {
  readonly state = 'waiting'
  position = 1_000_000
  etaMs = null
  readonly #listeners = new Set<(status: TicketStatus) => void>()

  readonly id: string

  constructor(id: string) {
    this.id = id
  }

  on(_event: 'status', listener: (status: TicketStatus) => void): void {
    this.#listeners.add(listener)
  }

  off(_event: 'status', listener: (status: TicketStatus) => void): void {
    this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  moveTo(position: number): void {
    this.position = position
    for (const listener of this.#listeners) listener({ state: 'waiting', position, etaMs: null })
  }
}

interface Setting {
  readonly clock: FakeClock
  readonly ticket: TicketInHand
  readonly stream: StatusStream
  readonly res: ServerResponse
  readonly client: RawClient
}

async function open(id = 'abc'): Promise<Setting> {
  const clock = new FakeClock()
  const ticket = new TicketInHand(id)
  let opened: { stream: StatusStream; res: ServerResponse } | undefined
  const server = await serve((req: IncomingMessage, res: ServerResponse) => {
    const visit = { req, res, request: null } as unknown as Visit<unknown>
    const terms = {
      format: universal,
      heartbeatMs: 15_000,
      statusIntervalMs: 1000,
      clock,
      troubled: () => undefined,
      headersLost: () => undefined,
    }
    opened = { stream: new StatusStream(visit, ticket as unknown as Ticket, terms, () => undefined), res }
  })
  const client = (await server.connect()).request('POST', '/', {}, '')
  await client.until('"position":1000000,')
  return { clock, ticket, client, ...opened! }
}

const positions = (text: string): number[] =>
  [...text.matchAll(/"position":(\d+),/g)].map(([, position]) => Number(position))

describe('StatusStream', () => {
  it('tells changes at most once per interval, and then only the latest', async () => {
    const { clock, ticket, client } = await open()
    for (const position of [9, 8, 7]) ticket.moveTo(position)
    await clock.advance(999)
    expect(positions(client.received)).toEqual([1_000_000])
    await clock.advance(1)
    await client.until('"position":7,')
    await clock.advance(5000)
    ticket.moveTo(6)
    await client.until('"position":6,')
    ticket.moveTo(5)
    ticket.moveTo(4)
    await clock.advance(1000)
    await client.until('"position":4,')
    expect(positions(client.received)).toEqual([1_000_000, 7, 6, 4])
  })

  it('says nothing while nothing changes, but for a heartbeat every 15 s', async () => {
    const { clock, client } = await open()
    const before = client.received
    await clock.advance(45_000)
    await client.until('2\r\n:\n\r\n2\r\n:\n\r\n2\r\n:\n\r\n')
    expect(client.received.slice(before.length)).toBe('2\r\n:\n\r\n'.repeat(3))
  })

  it('ends with one admitted event, and leaves neither timer nor listener', async () => {
    const { clock, ticket, client, stream, res } = await open()
    ticket.moveTo(1)
    stream.admit()
    await clock.advance(60_000)
    ticket.moveTo(0)
    res.setHeader('Content-Type', 'text/event-stream')
    res.end('data: done\n\n')
    const { body } = await client.response()
    const admitted = universal.news({ state: 'admitted', position: 0, etaMs: 0, ticket: 'abc' }, null)
    expect(body.slice(body.indexOf('\n\n') + 2)).toBe(`${admitted}data: done\n\n`)
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
    expect(ticket.listeners).toBe(0)
  })

  describe('Case 27, B37: with a reader that stalls', () => {
    /** Long events, so that they fill the buffers of the operating system soon. */
    const stall = async (): Promise<Setting & { readonly longest: number }> => {
      const setting = await open('x'.repeat(50_000))
      const { clock, ticket, client, res } = setting
      client.socket.pause()
      let longest = 0
      let stalledFor = 0
      for (let update = 1; stalledFor < 10 && update <= 7200; update += 1) {
        ticket.moveTo(1_000_000 - update)
        await clock.advance(1000)
        longest = Math.max(longest, res.writableLength)
        stalledFor = res.writableNeedDrain ? stalledFor + 1 : 0
      }
      return { ...setting, longest }
    }

    it('keeps at most one event waiting, tells the latest when it reads again', async () => {
      const { clock, ticket, client, res, longest } = await stall()
      expect(res.writableNeedDrain).toBe(true)
      expect(longest).toBeLessThan(res.writableHighWaterMark + 60_000)
      const { position } = ticket
      ticket.moveTo(3)
      ticket.moveTo(2)
      client.socket.resume()
      await expect.poll(() => res.writableNeedDrain, { timeout: 10_000 }).toBe(false)
      await clock.advance(1000)
      const text = await client.until('"position":2,')
      expect(position).toBeGreaterThan(3)
      expect(positions(text)).not.toContain(3)
      expect(positions(text).length).toBeLessThan(1_000_000 - position - 5)
    })

    it('takes it for gone after three heartbeats', async () => {
      const { clock, res } = await stall()
      // The stall is less than a heartbeat old.
      await clock.advance(15_000)
      const early = res.destroyed
      await clock.advance(30_000)
      await expect.poll(() => res.destroyed, { timeout: 10_000 }).toBe(true)
      expect(early).toBe(false)
    })
  })
})
