import type { RejoinRequest, Standing } from './exchanger.js'
import { MOST_OPERATIONS } from './outbox.js'
import type { Slot } from './slot.js'

/** What it takes to put an instance's tickets back. */
export interface Return {
  readonly slots: Iterable<Slot>
  readonly instance: string
  readonly nowMs: number
  readonly request: Pick<RejoinRequest, 'batch' | 'fence' | 'known' | keyof Standing>
  /** Sends one part until it is answered; undefined when that has become pointless. */
  readonly send: (request: RejoinRequest) => Promise<{ readonly epoch: string } | undefined>
}

/**
 * Puts tickets back into a store that has lost them, with their old numbers, waiting ones (also those without a client) and running ones with
 * what is left of their leases (R14, R18), in parts that a script can take.
 * @returns the store's new epoch, or undefined if sending was ended
 */
export async function bringBack({ slots, instance, nowMs, request, send }: Return): Promise<string | undefined> {
  const all = [...slots].filter(({ state }) => state === 'waiting' || state === 'aside' || state === 'running')
  let epoch: string | undefined
  let from = 0
  do {
    const part = all.slice(from, from + MOST_OPERATIONS)
    from += MOST_OPERATIONS
    const reply = await send({
      ...request,
      complete: from >= all.length,
      waiting: part.filter(({ state }) => state !== 'running').map((slot) => slot.member(instance)),
      running: part
        .filter(({ state }) => state === 'running')
        .map((slot) => ({ member: slot.member(instance), leftMs: Math.max(1, Math.ceil(slot.endsAtMs - nowMs)) })),
    })
    if (reply === undefined) return undefined
    // Memory was lost again between two parts: begin again.
    if (epoch !== undefined && epoch !== reply.epoch) from = 0
    epoch = reply.epoch
  } while (from < all.length)
  return epoch
}
