import { Broken, type ModelTicket, type Promises } from './promises.js'
import { times, type ModelProcess } from './process.js'
import {
  argumentsOf,
  readMember,
  replyHeadOf,
  type Executed,
  type Member,
  type NameOf,
  type Snapshot,
} from './server.js'
import type { StoreTime } from './storeTime.js'
import type { Answer, Call } from './pipes.js'

type Ticket = ModelTicket<ModelProcess>

/** What is known of a ticket's place in the store. */
interface Place {
  /** Its arrival number. */
  number: number
  /** All that it ever had. */
  readonly numbers: Set<number>
  /** The how-manieth to arrive. */
  arrival: number
  /** Its process has been told of that number. */
  told: boolean
  /** Memory was lost before its process was told: it may be numbered anew (window). */
  mayBeForgotten: boolean
  acceptedAtStep: number
  /** When the store granted it, and when that lease ends by the store's time. */
  grantedAtStep: number
  capMs: number
  /** R17: let in while nothing told the store that it had lost its memory. */
  letInUnaware: boolean
  /** It runs on although its process missed the grace: it was silent for too long. */
  returnedLate: boolean
}

/** The limits in force from some step on. */
interface Limits {
  readonly fromStep: number
  readonly limit: number
  readonly keyLimit: number
}

/** How a process stands with the store. */
interface Standing {
  /** Until when the store must believe it alive. */
  aliveUntilMs: number
  provenAtStep: number
  /** It has to put its tickets back and has not yet. */
  isAway: boolean
  lastBatch: number
  /** The epoch that it has been told of. */
  epoch: string
}

/**
 * Checks DESIGN's promises on a store that many processes share, after every call that the store has executed and after every step. It knows
 * of the store only what its replies, its hints and a look at the line tell. Each `window` names why a promise does not hold there.
 */
export class StorePromises {
  readonly #promises: Promises<ModelProcess>
  readonly #time: StoreTime
  /** What the store holds now. */
  readonly #look: () => Snapshot
  readonly #processOf: (instance: string) => ModelProcess | undefined
  readonly #nameOf: NameOf
  readonly #places = new Map<Ticket, Place>()
  readonly #standings = new Map<ModelProcess, Standing>()
  readonly #executedAtStep = new WeakMap<Call, number>()
  /** Everything that happens counts one up. */
  #step = 0
  #arrivals = 0
  #quietUntilMs = -Infinity
  #graceUntilMs = -Infinity
  #lossAtStep = -1
  #jumpAtStep = -1
  /** When `leaseMs` was changed. */
  #capsChangedAtStep = -1
  #limits: Limits[] = []
  /** R17: memory was lost without a trace, and these, who know of it, have not called since. */
  readonly #unheard = new Set<ModelProcess>()
  /** How often that happened meanwhile. */
  #unheardLosses = 0
  /** R15: an older memory came back, and nobody who knows has called since. */
  #rolledBackTo: string | undefined

  constructor(
    promises: Promises<ModelProcess>,
    time: StoreTime,
    look: () => Snapshot,
    processOf: (instance: string) => ModelProcess | undefined,
    nameOf: NameOf,
  ) {
    this.#promises = promises
    this.#time = time
    this.#look = look
    this.#processOf = processOf
    this.#nameOf = nameOf
  }

  joined(process: ModelProcess): void {
    this.#standings.set(process, { aliveUntilMs: -Infinity, provenAtStep: -1, isAway: false, lastBatch: 0, epoch: '' })
  }

  /** The server's clock was moved forward. */
  jumped(): void {
    this.#step += 1
    this.#jumpAtStep = this.#step
  }

  /** The store counts time anew, since it has forgotten everything. */
  timeMoved(byMs: number): void {
    this.#quietUntilMs += byMs
    for (const standing of this.#standings.values()) standing.aliveUntilMs += byMs
    for (const place of this.#places.values()) place.capMs += byMs
  }

  /** Memory was lost; `everything`: nothing is left that shows it. `run`: an older one came back under another identity. */
  lost({ everything, run }: { everything: boolean; run?: string }): void {
    this.#step += 1
    this.#lossAtStep = this.#step
    // Until it tells.
    this.#graceUntilMs = Infinity
    if (everything || this.#unheard.size > 0) this.#unheardLosses += 1
    this.#rolledBackTo = run
    for (const [ticket, place] of this.#places) {
      if (ticket.ending !== undefined) continue
      if (place.told) this.#standings.get(ticket.holder)!.isAway = true
      // Also who has not been told yet: the answer may be on its way.
      if (everything) this.#unheard.add(ticket.holder)
    }
    // An arrival whose reply and store were lost is numbered anew.
    for (const place of this.#places.values()) place.mayBeForgotten = !place.told
  }

  /** Whether its process may have been taken for dead. */
  isDoubtful(process: ModelProcess): boolean {
    return this.#time.nowMs >= this.#standings.get(process)!.aliveUntilMs
  }

  /** A process learns what became of a call. */
  answered({ call, reply }: Answer): void {
    const { name } = call.script
    if ((name !== 'exchange' && name !== 'rejoin') || !Array.isArray(reply)) return
    const { named, rest } = argumentsOf(call)
    const { word, epoch, kept } = replyHeadOf(call, reply)
    const process = this.#processOf(named['instance'] ?? '')
    if (word === 'ok' && process !== undefined) this.#standings.get(process)!.epoch = epoch
    if (name === 'rejoin' || word === 'stale' || kept === '') return
    const [, first, words = ''] = kept.split(' ')
    const acquires = rest
      .slice(Number(named['releases']) + Number(named['cancels']))
      .filter((operation) => !operation.startsWith('-'))
    let number = Number(first)
    for (const [index, operation] of acquires.entries()) {
      if (!'gq'.includes(words[index] ?? '-')) continue
      const [ticket = '', , key = ''] = operation.split(':')
      this.#tell(this.#nameOf(named['instance'] ?? '', ticket) ?? key, number)
      number += 1
    }
    // It hears of what the store has forgotten since.
    if (words !== '' && process !== undefined && this.#lossAtStep > (this.#executedAtStep.get(call) ?? 0)) {
      this.#standings.get(process)!.isAway = true
    }
  }

  /** A process hears a hint. */
  hinted(process: ModelProcess, message: string): void {
    const [, epoch, grants] = message.split(' ')
    // In another epoch it is only a nudge (R12).
    if (epoch !== this.#standings.get(process)!.epoch) return
    for (const grant of (grants ?? '').split(',')) {
      const member = readMember(grant.split('/')[0]!, this.#nameOf)
      if (member !== undefined) this.#tell(member.name, member.number)
    }
  }

  /** A handler has started. */
  granted(ticket: Ticket): void {
    if (!ticket.holds) return
    ticket.letInAlone = ticket.owner.alone
    ticket.untold = ticket.letInAlone
    if (ticket.letInAlone) return
    const standing = this.#standings.get(ticket.owner)!
    const place = this.#places.get(ticket)
    if (holds(this.#look().running, ticket)) return
    if (standing.isAway) return
    if (this.isDoubtful(ticket.owner) && this.#jumpAtStep > standing.provenAtStep) return
    if (place !== undefined && this.#isCutShort(place)) return
    this.#promises.fault ??= new Broken(
      `the handler of ${ticket.name} started, but the store does not hold a place for it any more`,
    )
  }

  /** The store has executed a call. `isCopy`: not for the first time, and nobody waits for the answer. */
  executed(executed: Executed, isCopy: boolean): void {
    this.#step += 1
    const silentMs = this.#time.tick()
    const { nowMs } = this.#time
    if (silentMs > times.livenessMs / 2) this.#noticeSilence(nowMs, silentMs)
    const { call, reply, before, after } = executed
    this.#executedAtStep.set(call, this.#step)
    if (reply instanceof Error) {
      if (reply.message.startsWith('NOSCRIPT')) return
      throw new Broken(`script ${call.script.name} failed`, { cause: reply })
    }
    const { named } = argumentsOf(call)
    const { word, graceMs } = replyHeadOf(call, reply)
    const process = this.#processOf(named['instance'] ?? '')
    if (process !== undefined && !isCopy) this.#hear(process, named['epoch'] !== '' && named['epoch'] !== before.epoch)
    if (named['run'] === this.#rolledBackTo) this.#rolledBackTo = undefined
    if (before.leaseMs !== after.leaseMs && before.epoch !== '') this.#capsChangedAtStep = this.#step
    const { limit, keyLimit } = after
    const inForce = this.#limits.at(-1)
    if (inForce?.limit !== limit || inForce.keyLimit !== keyLimit)
      this.#limits.push({ fromStep: this.#step, limit, keyLimit })

    this.#noteMoves(after)
    this.#noteAcceptances(after)
    this.#noteReturnOfThoseLetInAlone(after)
    this.#notePutBack(after)
    const started = after.running.filter((member) => !before.running.some(({ text }) => text === member.text))
    if (call.script.name === 'rejoin') this.#noteReturn(started, leasesOf(call))
    else this.#checkGrants(started, after)

    if (process === undefined) return
    const standing = this.#standings.get(process)!
    const batch = Number(named['batch'])
    const applies = call.script.name === 'exchange' && word === 'ok' && batch > standing.lastBatch
    if (call.script.name === 'exchange' && word === 'ok') {
      if (!named['flags']!.includes('h') && !isCopy) standing.isAway = false
      standing.lastBatch = Math.max(batch, standing.lastBatch)
    } else if (call.script.name === 'exchange' && word === 'rejoin') {
      standing.isAway = true
    } else if (call.script.name === 'rejoin' && word === 'ok' && named['complete'] === '1' && !isCopy) {
      standing.isAway = false
    }
    if (word === 'ok' && (call.script.name === 'exchange' || call.script.name === 'rejoin')) {
      standing.aliveUntilMs = nowMs + times.livenessMs
      standing.provenAtStep = this.#step
    }
    // In a grace nothing is granted and nobody is taken for dead.
    if (applies) this.#graceUntilMs = nowMs + graceMs
    if (nowMs < this.#graceUntilMs) return
    // (Whoever comes from another memory may begin a grace, and nobody has been told of it yet.)
    const graceBegins = named['epoch'] !== '' && named['epoch'] !== before.epoch
    if (applies || (call.script.name === 'configure' && !graceBegins)) this.#checkHandOver(after)
    if (applies && nowMs >= this.#quietUntilMs) this.#checkTheDead(after)
  }

  /** What must be true between any two steps. */
  check(): void {
    this.#promises.check()
    const { nowMs } = this.#time
    const { waiting, parked, aside, running } = this.#look()
    for (const ticket of this.#promises.tickets) {
      const { holder: owner } = ticket
      const place = this.#places.get(ticket)
      if (place === undefined || !owner.awake || this.#standings.get(owner)!.isAway || this.isDoubtful(owner)) continue
      if (ticket.untold && (owner.alone || !owner.connected || owner.pipes.isBusy)) continue
      const leaseIsOver = nowMs >= place.capMs
      if (ticket.holds && !holds(running, ticket) && !this.#isCutShort(place)) {
        throw new Broken(`${ticket.name} runs, and the store does not hold its permits any more`)
      }
      if (
        ticket.waits &&
        !ticket.isComing &&
        place.told &&
        !holds([...running, ...waiting, ...parked, ...aside], ticket) &&
        !leaseIsOver
      ) {
        throw new Broken(`${ticket.name} waits, and the store has lost it`)
      }
    }
    this.#checkLimit()
  }

  /** The permits of what runs never exceed the highest limit in force since the first of them was let in (promise 1). */
  #checkLimit(): void {
    const counted = this.#promises.holders.filter((ticket) => {
      const place = this.#places.get(ticket)
      return this.#counts(ticket) && place !== undefined && !place.letInUnaware && !place.returnedLate
    })
    this.#checkSince(counted, permitsOf(counted), ({ limit }) => limit)
    for (const own of byKey(counted)) this.#checkSince(own, own.length, ({ keyLimit }) => keyLimit)
  }

  #checkSince(holders: readonly Ticket[], used: number, limitOf: (inForce: Limits) => number): void {
    if (holders.length === 0) return
    const since = Math.min(...holders.map((ticket) => this.#places.get(ticket)!.grantedAtStep))
    const limits = this.#limits.filter((_, index) => (this.#limits[index + 1]?.fromStep ?? Infinity) > since)
    const limit = Math.max(...limits.map(limitOf))
    if (used > limit)
      throw new Broken(`limit: ${holders.map(({ name }) => name).join(', ')} run with ${used}, limit ${limit}`)
  }

  /** Whether what this ticket runs still counts: not after a stall or partition, until it obeys its signal (window). */
  #counts(ticket: Ticket): boolean {
    if (ticket.letInAlone) return false
    const place = this.#places.get(ticket)
    if (this.isDoubtful(ticket.owner)) return false
    if (place === undefined || this.#time.nowMs < place.capMs) return true
    // The signal is due in this very moment, or as soon as the process runs again.
    return this.#time.nowMs > place.capMs && ticket.owner.awake && !this.#isCutShort(place)
  }

  /**
   * Its lease has ended sooner than its process can know, which is told by the next exchange (window): the server's clock has jumped over the
   * rest of it, or `leaseMs` was changed.
   */
  #isCutShort({ capMs, grantedAtStep, acceptedAtStep }: Place): boolean {
    return this.#time.nowMs >= capMs && (this.#jumpAtStep > grantedAtStep || this.#capsChangedAtStep > acceptedAtStep)
  }

  /** Whoever comes from a lost memory shows that it was lost. Of one before that, it need not know. */
  #hear(process: ModelProcess, comesFromAnother: boolean): void {
    if (comesFromAnother && this.#unheardLosses === 1) this.#unheard.clear()
    else this.#unheard.delete(process)
    if (this.#unheard.size === 0) this.#unheardLosses = 0
  }

  get #isUnaware(): boolean {
    return this.#promises.tickets.some(
      ({ holder, ending }) =>
        ending === undefined && this.#unheard.has(holder) && !(holder.dead && this.isDoubtful(holder)),
    )
  }

  #noticeSilence(nowMs: number, silentMs: number): void {
    // Nobody's death is proven, but of those whose time was over before (R19).
    this.#quietUntilMs = nowMs + Math.ceil((times.livenessMs * 2) / 3)
    // Nor had those time to come back who were awaited in a grace.
    if (nowMs - silentMs < this.#graceUntilMs) this.#graceUntilMs = Math.max(this.#graceUntilMs, this.#quietUntilMs)
    for (const standing of this.#standings.values()) {
      if (standing.aliveUntilMs >= nowMs - silentMs)
        standing.aliveUntilMs = Math.max(standing.aliveUntilMs, this.#quietUntilMs)
    }
  }

  #noteAcceptances({ waiting, parked, running }: Snapshot): void {
    for (const ticket of this.#promises.tickets) {
      const place = this.#places.get(ticket)
      for (const { name, number } of [...waiting, ...parked, ...running]) {
        if (name !== ticket.name || place?.numbers.has(number)) continue
        if (place !== undefined && ticket.ending === undefined && !this.#mayStandTwice(ticket, place)) {
          throw new Broken(`${ticket.name} stands in the line twice`)
        }
        this.#arrivals += 1
        // Whoever has been told of a number sticks to it and gives any other back.
        if (place?.told) place.numbers.add(number)
        else this.#places.set(ticket, this.#newPlace(number, place))
      }
    }
  }

  /** Places that have gone over to where their client came back. */
  #noteMoves({ waiting, parked, running }: Snapshot): void {
    for (const { name, text } of [...waiting, ...parked, ...running]) {
      const ticket = this.#promises.find(name)
      if (ticket === undefined) continue
      ticket.moves = Math.max(ticket.moves, Number(/^[^:]+:[^:]+:[^.]+\.[^.:]+\.(\d+):/.exec(text)?.[1] ?? 0))
      if (!ticket.isComing) ticket.holder = ticket.owner
    }
  }

  /** Its process has told the store of it, under a number of its own choice if it had none. */
  #noteReturnOfThoseLetInAlone({ running }: Snapshot): void {
    for (const { name } of running) {
      const ticket = this.#promises.find(name)
      if (ticket?.untold !== true) continue
      ticket.untold = false
      this.#places.get(ticket)!.told = true
    }
  }

  /** Memory was lost since, or its process taken for dead: it may have asked anew. */
  #mayStandTwice({ holder: owner }: Ticket, { acceptedAtStep }: Place): boolean {
    return this.#lossAtStep > acceptedAtStep || this.isDoubtful(owner) || this.#standings.get(owner)!.isAway
  }

  #newPlace(number: number, before: Place | undefined): Place {
    return {
      number,
      numbers: new Set(before?.numbers).add(number),
      arrival: this.#arrivals,
      told: false,
      mayBeForgotten: false,
      acceptedAtStep: this.#step,
      grantedAtStep: -1,
      capMs: Infinity,
      letInUnaware: false,
      returnedLate: false,
    }
  }

  /** A grant that nobody heard of in time was taken back, and its ticket waits again. */
  #notePutBack({ waiting, parked, aside }: Snapshot): void {
    for (const member of [...waiting, ...parked, ...aside]) {
      const ticket = this.#promises.find(member.name)
      const place = ticket && this.#places.get(ticket)
      if (place?.number !== member.number) continue
      place.grantedAtStep = -1
      place.capMs = Infinity
    }
  }

  /** Running tickets came back with a rejoin; `leases`: what is left of each. */
  #noteReturn(started: readonly Member[], leases: ReadonlyMap<string, number>): void {
    for (const member of started) {
      const ticket = this.#promises.find(member.name)
      const place = ticket && this.#places.get(ticket)
      if (place === undefined) continue
      // An old memory had it waiting, or its process let it in: it has run all the time.
      if (place.number === member.number && place.grantedAtStep < 0) {
        place.grantedAtStep = this.#step
        place.capMs = this.#time.nowMs + leases.get(member.text)!
      }
      if (this.isDoubtful(ticket!.owner)) place.returnedLate = true
    }
  }

  #checkGrants(started: readonly Member[], after: Snapshot): void {
    const { nowMs } = this.#time
    const isWindow = this.#isUnaware || this.#rolledBackTo !== undefined
    for (const member of started) {
      const ticket = this.#promises.find(member.name)
      const place = ticket && this.#places.get(ticket)
      if (place === undefined || place.number !== member.number) continue
      place.grantedAtStep = this.#step
      place.capMs = nowMs + after.leaseMs
      place.letInUnaware = isWindow
      if (!isWindow && ticket!.ending === undefined) this.#checkOrder(ticket!, place, after)
    }
    if (started.length > 0 && !isWindow) this.#checkRoom(started, after)
    this.#checkKeyRoom(started, after)
  }

  /** Whoever arrived before this one runs, or has run, or is gone, or is in no position to (promise 2). */
  #checkOrder(ticket: Ticket, place: Place, after: Snapshot): void {
    const mayRun = mayRunOf(after)
    for (const [other, { arrival, number, acceptedAtStep, grantedAtStep, mayBeForgotten }] of this.#places) {
      if (arrival >= place.arrival || other.ending !== undefined || grantedAtStep >= 0 || mayBeForgotten) continue
      // With its memory the server lost how far numbers had come, and its clock had gone back, too.
      if (number > place.number && this.#lossAtStep > acceptedAtStep) continue
      // It passed while the queue was switched off, or was let in by its process.
      if (other.runs) continue
      if (other.holder.dead || this.isDoubtful(other.holder) || other.permits > after.limit) continue
      // Its client is not there (R24).
      if (holds(after.aside, other) || (other.isComing && !holds(after.waiting, other))) continue
      // Its key is at its cap (R22).
      if (!mayRun.has(other.name) && other.key !== ticket.key) continue
      throw new Broken(`order: ${ticket.name} overtakes ${other.name}`)
    }
  }

  /** What is granted fits beside all that runs or was granted before (promise 1). */
  #checkRoom(started: readonly Member[], after: Snapshot): void {
    const holders = this.#promises.tickets.filter((ticket) => {
      if (ticket.ending !== undefined) return false
      return (ticket.holds && this.#counts(ticket)) || (holds(after.running, ticket) && !this.isDoubtful(ticket.owner))
    })
    const used = permitsOf(holders)
    if (used > after.limit) {
      const names = started.map(({ name }) => name).join(', ')
      throw new Broken(
        `limit: ${names} granted; ${holders.map(({ name }) => name).join(', ')} hold ${used} permits of ${after.limit}`,
      )
    }
  }

  /** Whoever is let in is within the cap of its key, beside all that the store has running (R22). */
  #checkKeyRoom(started: readonly Member[], { running, keyLimit }: Snapshot): void {
    for (const { name, key } of started) {
      const own = running.filter((other) => other.key === key)
      if (key !== '' && own.length > keyLimit)
        throw new Broken(`limit: ${name} granted; ${own.map((each) => each.name).join(', ')} run, per key ${keyLimit}`)
    }
  }

  /** A freed permit is given to the next in the same operation (promise 3); a permit of use to one that is parked, too (R22). */
  #checkHandOver(after: Snapshot): void {
    const { waiting, parked, running, instances, limit } = after
    const mayRun = mayRunOf(after)
    const head = [...waiting, ...parked]
      .toSorted((one, other) => one.number - other.number)
      .find(({ name, instance, permits }) => instances.has(instance) && permits <= limit && mayRun.has(name))
    const used = permitsOf(running)
    if (head !== undefined && head.permits <= limit - used) {
      throw new Broken(`hand-over: ${head.name} waits for ${head.permits} permits, ${limit - used} are free`)
    }
  }

  /** The dead hold nothing (promise 5). */
  #checkTheDead({ running, instances }: Snapshot): void {
    const ghost = running.find(({ instance }) => !instances.has(instance))
    if (ghost !== undefined) throw new Broken(`${ghost.name} holds permits from the grave`)
  }

  #tell(name: string, number: number): void {
    const ticket = this.#promises.find(name)
    const place = ticket && this.#places.get(ticket)
    if (place?.number !== number) return
    place.told = true
    place.mayBeForgotten = false
  }
}

function holds(members: readonly Member[], { name }: Ticket): boolean {
  return members.some((member) => member.name === name)
}

/** What is left of the lease of each running ticket that a rejoin brings, by its member text. */
function leasesOf(rejoin: Call): ReadonlyMap<string, number> {
  const { named, rest } = argumentsOf(rejoin)
  const running = rest.slice(Number(named['lines']))
  const leases = new Map<string, number>()
  for (let index = 0; index < running.length; index += 2) leases.set(running[index + 1]!, Number(running[index]))
  return leases
}

/** The names of those that wait and whose turn it may be by the cap of their key: of each key the first ones. */
function mayRunOf({ waiting, parked, running, instances, keyLimit }: Snapshot): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const count = (key: string): number => {
    const before = counts.get(key) ?? 0
    counts.set(key, before + 1)
    return before
  }
  for (const { key } of running) count(key)
  const living = [...waiting, ...parked].filter(({ instance }) => instances.has(instance))
  const first = living
    .toSorted((one, other) => one.number - other.number)
    .filter(({ key }) => key === '' || count(key) < keyLimit)
  return new Set(first.map(({ name }) => name))
}

/** Those of each key. */
function byKey(tickets: readonly Ticket[]): Ticket[][] {
  const groups = new Map<string, Ticket[]>()
  for (const ticket of tickets) groups.set(ticket.key, [...(groups.get(ticket.key) ?? []), ticket])
  return [...groups.values()]
}

function permitsOf(holders: readonly { readonly permits: number }[]): number {
  return holders.reduce((sum, { permits }) => sum + permits, 0)
}
