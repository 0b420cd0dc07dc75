import type { Entry, FaultKind, Happening, StormTerms } from '../entry.js'
import { merged, type Span } from './spans.js'

type EntryOf<What extends Happening['what']> = Extract<Entry, { readonly what: What }>

/** A promise that was broken, in words. */
export interface Violation {
  readonly rule: string
  readonly atMs: number
  readonly detail: string
}

/** One fault from its beginning until it was healed. */
export interface FaultSpan extends Span {
  readonly kind: FaultKind
  readonly processes: readonly string[]
}

/** One run of a handler. */
export interface Run {
  readonly process: string
  readonly visit: number
  readonly request: string
  readonly number: string | null
  readonly fence: number
  readonly permits: number
  /** Let in by its process alone: the store has not granted it. */
  readonly isLocal: boolean
  /** By the store; of a local run when it began. */
  readonly grantedMs: number
  readonly beganMs: number
  /** When it had no right any more, or had ended; Infinity: never. */
  readonly toMs: number
  /** When the handler had ended. */
  readonly endedMs: number
}

/** An answer that did not come for longer than this is a sign that something was wrong; see `silences`. */
const SETTLE_MS = 600
/** The last proof of life was up to a third of `livenessMs` before a silence, and a busy machine may be late with it. */
const EARLY_MS = 300
/** By how much the clocks of two processes may differ, and Redis' own, which stands still while it works. */
export const CLOCKS_MS = 5
/** After this a process that can reach the store has to have noticed. */
const RECOVERY_MS = 5000

const SILENCING: ReadonlySet<FaultKind> = new Set(['stop', 'cut', 'blackHole', 'loseAll', 'loseReplies'])
const STORE_AWAY: ReadonlySet<FaultKind> = new Set(['stopStore', 'emptyStore', 'oldStore'])
export const MEMORY_LOSSES: ReadonlySet<FaultKind> = new Set(['emptyStore', 'oldStore', 'flushAll'])

/** All that was written down, put together: what the checks ask. */
export class StormRecord {
  readonly entries: readonly Entry[]
  readonly terms: StormTerms
  readonly faults: readonly FaultSpan[]
  readonly runs: readonly Run[]
  readonly #byWhat = new Map<string, Entry[]>()
  readonly #silences = new Map<string, readonly Span[]>()
  readonly #offs = new Map<string, readonly Span[]>()
  readonly #stalls = new Map<string, readonly Span[]>()

  constructor(entries: readonly Entry[]) {
    this.entries = entries
    for (const entry of entries) {
      const same = this.#byWhat.get(entry.what)
      if (same === undefined) this.#byWhat.set(entry.what, [entry])
      else same.push(entry)
    }
    const [terms] = this.of('terms')
    if (terms === undefined) throw new Error('The logs do not say with what the storm was run.')
    this.terms = terms.terms
    const healed = new Map(this.of('healed').map(({ fault, atMs }) => [fault, atMs]))
    this.faults = this.of('fault').map(({ fault, kind, processes, atMs }) => ({
      kind,
      processes,
      fromMs: atMs,
      toMs: healed.get(fault) ?? Infinity,
    }))
    this.runs = this.#readRuns()
  }

  /** The entries of one kind, in the order of time. */
  of<What extends Happening['what']>(what: What): readonly EntryOf<What>[] {
    return (this.#byWhat.get(what) ?? []) as EntryOf<What>[]
  }

  /** When a process was not able to hear from the store or to be heard, until it had noticed that it was again. */
  silences(process: string): readonly Span[] {
    return memo(this.#silences, process, () => {
      const broken = this.faults
        .filter(({ kind, processes }) => STORE_AWAY.has(kind) || (SILENCING.has(kind) && processes.includes(process)))
        .map(({ fromMs, toMs }) => ({ fromMs, toMs: this.#recovered(process, toMs) + SETTLE_MS }))
      return merged([...broken, ...this.#slowness(process)])
    })
  }

  /** When a process was on its own, and what it let in then was not known to the store yet; and its silences. */
  offs(process: string): readonly Span[] {
    return memo(this.#offs, process, () => {
      const alone = this.aloneSpans(process).map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + SETTLE_MS }))
      return merged([...alone, ...this.silences(process)])
    })
  }

  /** When a process itself stood still. */
  stalls(process: string): readonly Span[] {
    return memo(this.#stalls, process, () =>
      merged(
        [
          ...this.faults.filter(({ kind, processes }) => kind === 'stop' && processes.includes(process)),
          ...this.#slowness(process),
        ].map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + SETTLE_MS })),
      ),
    )
  }

  /** From when on the store may have given a silent process up, until it has heard of it. */
  mayBeGivenUp(process: string, atMs: number): boolean {
    const soonestMs = (this.terms.livenessMs * 2) / 3 - EARLY_MS
    return this.silences(process).some(({ fromMs, toMs }) => fromMs + soonestMs <= atMs && atMs <= toMs)
  }

  aloneSpans(process: string): Span[] {
    return this.#switched(
      this.of('alone')
        .filter(({ by }) => by === process)
        .map(({ atMs, share }) => ({ atMs, on: share !== null })),
    )
  }

  /** When a process was started; before everything if it does not say. */
  startedMs(process: string): number {
    return this.of('started').find((entry) => entry.process === process)?.atMs ?? -Infinity
  }

  /** How a process ended, if it did. */
  exit(process: string): EntryOf<'exited'> | undefined {
    return this.of('exited').find((entry) => entry.process === process)
  }

  /** Limits that may have been in force at some moment from `fromMs` to `toMs`, given what was asked for and what may have been forgotten. */
  limits({ fromMs, toMs }: Span): Set<number> {
    let inForce = new Set([this.terms.concurrency])
    const seen = new Set(inForce)
    const result = new Set<number>()
    let lostAtMs = -Infinity
    const losses = this.faults.filter(({ kind }) => MEMORY_LOSSES.has(kind))
    const steps = [
      ...this.of('configure').map((entry) => ({ atMs: entry.atMs, entry })),
      ...losses.map((loss) => ({ atMs: loss.fromMs, loss })),
    ].toSorted((a, b) => a.atMs - b.atMs)
    for (const step of steps) {
      if (step.atMs > toMs) break
      if (step.atMs >= fromMs) for (const limit of inForce) result.add(limit)
      if ('loss' in step) {
        // Whoever comes back first may know an old one.
        inForce = new Set([...seen, ...inForce])
        lostAtMs = step.loss.toMs
      } else {
        const { concurrency, how } = step.entry
        seen.add(concurrency)
        const forgets = how === 'done' && step.atMs > lostAtMs + 2 * this.terms.livenessMs
        inForce = forgets ? new Set([concurrency]) : new Set([...inForce, concurrency])
      }
    }
    return new Set([...result, ...inForce])
  }

  /** Short stretches in which a process, the one that carries its link, or the store was busy with something else. */
  #slowness(process: string): Span[] {
    return [
      ...this.of('lag')
        .filter(({ by }) => by === process || by === 'storm')
        .map(({ fromMs, atMs }) => ({ fromMs, toMs: atMs })),
      ...this.of('storeLag').map(({ fromMs, atMs }) => ({ fromMs, toMs: atMs })),
    ]
  }

  /** When a process has noticed that nothing is broken any more. */
  #recovered(process: string, healedMs: number): number {
    const told = this.of('degraded').filter(({ by }) => by === process)
    const isWell = told.findLast(({ atMs }) => atMs <= healedMs + SETTLE_MS)?.degraded !== true
    const again = told.find(({ atMs, degraded }) => atMs > healedMs && !degraded)
    return isWell ? healedMs : Math.min(again?.atMs ?? Infinity, healedMs + RECOVERY_MS)
  }

  #switched(steps: readonly { readonly atMs: number; readonly on: boolean }[]): Span[] {
    const spans: Span[] = []
    let fromMs: number | undefined
    for (const { atMs, on } of steps) {
      if (on) fromMs ??= atMs
      else if (fromMs !== undefined) {
        spans.push({ fromMs, toMs: atMs })
        fromMs = undefined
      }
    }
    if (fromMs !== undefined) spans.push({ fromMs, toMs: Infinity })
    return spans
  }

  #readRuns(): Run[] {
    const key = ({ by, visit }: { readonly by: string; readonly visit: number }): string => `${by} ${visit}`
    const first = <Item extends Entry & { readonly visit: number }>(items: readonly Item[]): Map<string, Item> =>
      new Map(items.toReversed().map((item) => [key(item), item]))
    const arrived = first(this.of('arrived'))
    const ended = first(this.of('ended'))
    const lost = first(this.of('lost'))
    const grants = new Map<string, number[]>()
    for (const { tickets, atMs } of this.of('granted')) {
      for (const { number } of tickets) grants.set(number, [...(grants.get(number) ?? []), atMs])
    }
    return this.of('began').map((began) => {
      const { by, visit, number, atMs } = began
      const exitMs = this.#deathMs(by)
      const endedMs = ended.get(key(began))?.atMs ?? exitMs
      const byStore = number === null ? [] : (grants.get(number) ?? []).filter((at) => at <= atMs + CLOCKS_MS)
      // A place that was held for its client is granted once, and then claimed.
      const claims = arrived.get(key(began))?.resumes === true
      const grantedMs = claims ? byStore[0] : byStore.at(-1)
      return {
        process: by,
        visit,
        request: arrived.get(key(began))?.request ?? '',
        number,
        fence: began.fence,
        permits: began.permits,
        isLocal: began.alone && grantedMs === undefined,
        grantedMs: Math.min(grantedMs ?? atMs, atMs),
        beganMs: atMs,
        endedMs,
        toMs: Math.min(endedMs, lost.get(key(began))?.atMs ?? Infinity),
      }
    })
  }

  /** A killed process dies when it is killed, though that is noticed later. */
  #deathMs(process: string): number {
    const killed = this.faults.find(({ kind, processes }) => kind === 'kill' && processes.includes(process))
    return Math.min(killed?.fromMs ?? Infinity, this.exit(process)?.atMs ?? Infinity)
  }
}

function memo<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = make()
  map.set(key, value)
  return value
}
