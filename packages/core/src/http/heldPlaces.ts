import type { IncomingMessage } from 'node:http'
import type { FairQueueCore } from '../queue/fairQueue.js'
import type { Lease } from '../queue/lease.js'
import type { Admitted } from './context.js'

/** A place that a request holds in a queue. */
export interface HeldPlace extends Admitted {
  readonly queue: FairQueueCore | null
  /** Another that it held already when it got this one. */
  earlier: HeldPlace | undefined
}

/** Known to all copies of this package that are loaded. A property costs less than an entry in a `WeakMap`, and goes with its request. */
const PLACES = Symbol.for('fairqueue.places')

interface Holder {
  [PLACES]?: HeldPlace
}

/** The place that a request got last; the earlier ones hang on it. */
export function lastPlaceOf(req: IncomingMessage): HeldPlace | undefined {
  return (req as Holder)[PLACES]
}

/** Notes a place for as long as its request lives. */
export function notePlace(req: IncomingMessage, place: HeldPlace): void {
  place.earlier = (req as Holder)[PLACES]
  ;(req as Holder)[PLACES] = place
}

/** The place among these that is one in this queue, perhaps got through another object of the same line. */
export function placeIn(queue: FairQueueCore, places: HeldPlace | undefined): HeldPlace | undefined {
  for (let place = places; place !== undefined; place = place.earlier) {
    if (isHeld(place) && isSameLine(place.queue!, queue)) return place
  }
  return undefined
}

/** Names of the queues in which these places are. */
export function queuesOf(places: HeldPlace | undefined): string[] {
  const names: string[] = []
  for (let place = places; place !== undefined; place = place.earlier) {
    if (isHeld(place)) names.unshift(place.queue!.name)
  }
  return names
}

/** What is not counted takes nobody's place, and what was lost is taken already. */
function isHeld({ lease }: HeldPlace): boolean {
  return lease !== null && lease.loss === null
}

function isSameLine(one: FairQueueCore, other: FairQueueCore): boolean {
  return one === other || (one.name === other.name && one.options.store === other.options.store)
}

/** A request's second way through the same queue: it goes on in the place that it has, which ends where its first way ends. */
export class SharedPlace implements Admitted {
  readonly #place: HeldPlace

  constructor(place: HeldPlace) {
    this.#place = place
  }

  get ticket(): string | null {
    return this.#place.ticket
  }

  get waitedMs(): number {
    return this.#place.waitedMs
  }

  get lease(): Lease | null {
    return this.#place.lease
  }

  get signal(): AbortSignal {
    return this.#place.signal
  }

  handlerDone(): void {
    // The outer one is not done yet.
  }
}
