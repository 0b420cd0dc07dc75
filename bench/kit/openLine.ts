import { FairQueue, type Lease, type Ticket } from '@fairqueue/core'
import { RedisStore } from '@fairqueue/core/redis'
import { Redis } from 'ioredis'
import { FloorLine } from './floorLine.js'
import type { Contender, Line, Turn } from './line.js'

export async function openLine(contender: Contender, port: number, concurrency: number): Promise<Line> {
  if (contender === 'floor') return await FloorLine.open(port)
  const redis = new Redis(port)
  const queue = new FairQueue({
    name: 'bench',
    concurrency,
    maxQueueSize: Infinity,
    maxWaitMs: '1h',
    storeTimeoutMs: '1m',
    store: new RedisStore({ redis }),
    bootGraceMs: 0,
  })
  let ended = false
  return {
    enter(onTurn) {
      const ticket = queue.enter()
      ticket.whenSettled((outcome) => {
        if (!(outcome instanceof Error)) onTurn(turnOf(ticket, outcome))
        else if (!ended) throw outcome
      })
    },
    entered: () => queue.status(),
    async close() {
      ended = true
      await queue.close({ graceMs: 0 })
      redis.disconnect()
    },
  }
}

function turnOf(ticket: Ticket, lease: Lease): Turn {
  // The public interface has no arrival number: this looks behind it, at the store's own notes.
  const { number } = ticket.slot as { readonly number: string }
  return { arrival: Number(number), grant: lease.fence, leave: () => void lease.release() }
}
