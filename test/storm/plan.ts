import type { FaultKind } from './entry.js'
import type { Random } from './random.js'

/** One fault, before it is done. */
export interface PlannedFault {
  readonly atMs: number
  readonly kind: FaultKind
  /** Indices of berths; empty for those of the store. */
  readonly berths: readonly number[]
  /** How long it lasts, or how long it is until what was ended comes back. */
  readonly durationMs: number
  readonly delayMs: number
}

type Place = 'process' | 'link' | 'store'

const PLACES: Readonly<Record<FaultKind, Place>> = {
  kill: 'process',
  terminate: 'process',
  stop: 'process',
  cut: 'link',
  blackHole: 'link',
  loseAll: 'link',
  loseReplies: 'link',
  slow: 'link',
  stopStore: 'store',
  emptyStore: 'store',
  oldStore: 'store',
  flushAll: 'store',
  flushScripts: 'store',
}

/** What takes time from beginning to end, in addition to what was planned: a process or a server that starts. */
const START_MS = 1500
/** Every so many faults all may come to rest. */
const SERIES = 7

/** What is done when: the same for the same seed. `kinds` are those that a topology can do. */
export function planFaults(
  random: Random,
  kinds: readonly FaultKind[],
  berths: number,
  forMs: number,
  livenessMs: number,
): PlannedFault[] {
  const plan: PlannedFault[] = []
  const busyUntil: Record<string, number> = {}
  let left: FaultKind[] = []
  let atMs = random.between(1000, 2000)
  while (atMs < forMs) {
    if (left.length === 0) left = random.shuffled(kinds)
    const kind = left.pop()!
    const place = PLACES[kind]
    const durationMs = durationOf(kind, random, livenessMs)
    const free = random
      .shuffled(Array.from({ length: berths }, (_, index) => index))
      .filter((berth) => (busyUntil[`${place}${berth}`] ?? 0) <= atMs)
    // Mostly one; sometimes some are split from the rest, or all have nothing.
    const some = place === 'link' && random.chance(0.35) ? random.integer(2, berths) : 1
    const chosen = place === 'store' ? [] : free.slice(0, some)
    const isFree = place === 'store' ? (busyUntil['store'] ?? 0) <= atMs : chosen.length > 0
    if (isFree) {
      plan.push({ atMs, kind, berths: chosen, durationMs, delayMs: random.integer(20, 400) })
      const untilMs = atMs + durationMs + START_MS
      for (const berth of chosen) busyUntil[`${place}${berth}`] = untilMs
      if (place === 'store') busyUntil['store'] = untilMs
    }
    atMs += random.between(100, 2500)
    if (plan.length > 0 && plan.length % SERIES === 0) atMs += livenessMs * random.between(1, 2)
  }
  return plan
}

/** Shorter than anybody notices, and longer than it takes to be given up for dead. */
function durationOf(kind: FaultKind, random: Random, livenessMs: number): number {
  switch (kind) {
    case 'flushAll':
    case 'flushScripts':
      return 0
    case 'kill':
    case 'terminate':
    case 'emptyStore':
    case 'oldStore':
      return random.between(0, 2000)
    case 'slow':
      return random.between(1000, 4000)
    case 'stop':
    case 'cut':
    case 'blackHole':
    case 'loseAll':
    case 'loseReplies':
    case 'stopStore':
      return random.chance(0.5) ? random.between(100, livenessMs * 0.8) : livenessMs * random.between(0.9, 2)
  }
}
