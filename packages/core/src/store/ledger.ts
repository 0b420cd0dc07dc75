import type { Clock } from '../base/clock.js'
import type { LeaseLostCause } from '../base/errors.js'
import type { FoundPlace, Place, RefusalReason } from './contract.js'
import type { Verdicts } from './exchanger.js'
import type { Outbox } from './outbox.js'
import { readMember, type MemberName, type Resumption, type Slot } from './slot.js'
import { SlotTable } from './slotTable.js'

/** A handler starts only while less than this share of `livenessMs` has passed since the exchange that let it in was sent (R12). */
const FRESH_SHARE = 0.8

/** The words of verdicts that refuse. `h` (held) does not. */
const REFUSALS: Readonly<Record<string, RefusalReason>> = {
  f: 'full',
  k: 'keyFull',
  p: 'permits',
  u: 'unavailable',
  n: 'unknown',
}

/** How old a piece of news is. Monotonic ms. */
export interface Proof {
  /** When the exchange was sent that proves this instance alive. */
  readonly sentAtMs: number
  /** From when its leases are counted, never later than the store does (R13). */
  readonly leaseFromMs: number
}

/** What this instance holds or waits for, and what each piece of news from the store means for it. */
export class Ledger {
  readonly #slots = new SlotTable()
  readonly #clock: Clock
  readonly #outbox: Outbox
  readonly #instance: string
  readonly #freshMs: number
  #waiting = 0
  #aside = 0
  #running = 0
  #alone = 0
  /** The hard cap on a run, as the settings have it. */
  leaseMs: number
  /** The highest number or fence seen (R18). */
  highestFence = 0
  /** A grant came too late to be acted on: the store has to be asked for what runs. */
  needsFull = false

  constructor(clock: Clock, outbox: Outbox, instance: string, livenessMs: number, leaseMs: number) {
    this.#clock = clock
    this.#outbox = outbox
    this.#instance = instance
    this.#freshMs = livenessMs * FRESH_SHARE
    this.leaseMs = leaseMs
  }

  /** Tickets in the line. */
  get waiting(): number {
    return this.#waiting
  }

  /** Tickets that the store holds for this instance, as far as it knows. */
  get stored(): number {
    return this.#waiting + this.#aside + this.#running
  }

  /** Tickets that run by this instance's own leave, of which the store has to be told (R25). */
  get alone(): number {
    return this.#alone
  }

  /** All slots of this moment. */
  all(): readonly Slot[] {
    return this.#slots.all()
  }

  /** `resumes`: what the place takes up again; null for a newcomer. */
  open(place: Place, resumes: Resumption | null = null): Slot {
    const slot = this.#slots.open(place, this.#clock.now(), resumes)
    place.slot = slot
    return slot
  }

  /** Forgets a slot; its place will hear nothing more. */
  close(slot: Slot): void {
    if (slot.state === 'waiting') this.#waiting -= 1
    else if (slot.state === 'aside') this.#aside -= 1
    else if (slot.state === 'running') this.#running -= 1
    if (slot.runsAlone) {
      slot.runsAlone = false
      this.#alone -= 1
    }
    slot.state = 'gone'
    slot.place.slot = undefined
    this.#slots.close(slot)
  }

  /** Closes a slot and tells its place why. */
  refuse(slot: Slot, reason: RefusalReason, cause?: unknown): void {
    this.close(slot)
    if (!slot.unwanted) slot.place.onRefused(reason, cause)
  }

  /** Ends a place on which the store has not decided. */
  turnAway(slot: Slot, reason: RefusalReason, cause?: unknown): void {
    const { place } = slot
    if (slot.state === 'sent') slot.unwanted = true
    else this.giveUp(slot)
    place.slot = undefined
    place.onRefused(reason, cause)
  }

  lose(slot: Slot, cause: LeaseLostCause): void {
    this.close(slot)
    slot.place.onLost(cause)
  }

  /** The answer to a batch: what became of its acquires, and who of this instance was granted in it. */
  applyVerdicts(acquires: readonly Slot[], verdicts: Verdicts, waitingNow: number | null, proof: Proof): Slot[] {
    const held: Slot[] = []
    const found = verdicts.news.filter((entry) => entry.startsWith('='))
    let number = verdicts.first
    let queuedBehind = verdicts.words.length - verdicts.words.replaceAll('q', '').length
    for (const [index, slot] of acquires.entries()) {
      const word = verdicts.words[index]
      if (word === 'g' || word === 'q') {
        this.#number(slot, number, word === 'g', proof, waitingNow === null ? null : waitingNow - queuedBehind + 1)
        if (word === 'q') queuedBehind -= 1
        number += 1
      } else if (word === 'm') {
        this.#found(slot, found.shift()?.slice(1) ?? '', proof)
      } else if (slot.state !== 'sent') {
        // A hint had let it in already; that grant counts, also if it has ended meanwhile.
      } else if (word === 'h' && !slot.unwanted && !slot.leaves) {
        slot.state = 'held'
        held.push(slot)
        slot.place.onQueued(null)
      } else if (word === 'h') {
        this.close(slot)
      } else {
        this.refuse(slot, REFUSALS[word ?? 'u'] ?? 'unavailable')
      }
    }
    // One that was found may have been taken by the next in the same batch.
    for (const entry of verdicts.news) if (!entry.startsWith('=')) this.#taken(entry.slice(1))
    for (const grant of verdicts.grants) this.applyGrant(grant, proof)
    return held
  }

  /** An acquire was accepted under a number. */
  #number(slot: Slot, number: number, granted: boolean, proof: Proof, position: number | null): void {
    const text = numberText(number)
    if (number > this.highestFence) this.highestFence = number
    if (slot.state !== 'sent') {
      // A hint overtook this answer, or it was let in without one. Another number means that it stood in line twice (R10).
      this.#takeNumber(slot, text)
      if (slot.number !== text) this.#outbox.cancel(`${text}:${this.#instance}:${slot.operation}`)
      else if (slot.state === 'waiting') slot.place.onQueued(position)
      return
    }
    slot.number = text
    if (slot.unwanted) {
      this.#outbox.cancel(slot.member(this.#instance))
      this.close(slot)
      return
    }
    this.#stand(slot)
    if (slot.leaves) this.putAside(slot)
    else if (granted) this.#grant(slot, number, proof)
    else slot.place.onQueued(position)
  }

  /** What runs by this instance's own leave may turn out to have a number. */
  #takeNumber(slot: Slot, number: string): void {
    if (slot.runsAlone && slot.number === '') slot.number = number
  }

  /** It has a number, and stands in the line until something else is known. */
  #stand(slot: Slot): void {
    slot.state = 'waiting'
    this.#waiting += 1
  }

  /** What a slot takes up again was found: `member/ageMs/position`, and where its turn has come `/fence/leftMs`. */
  #found(slot: Slot, entry: string, proof: Proof): void {
    const [member = '', ageMs, position, fence, leftMs] = entry.split('/')
    const name = readMember(member)
    if (name === undefined) {
      if (slot.state === 'sent') this.refuse(slot, 'unavailable', new Error(`The store found garbage: ${member}`))
      return
    }
    if (slot.state !== 'sent') {
      // A hint overtook this answer.
      if (slot.state === 'waiting') slot.place.onQueued(Number(position))
      return
    }
    this.#adopt(slot, name, { permits: name.permits, ageMs: Number(ageMs) })
    if (slot.unwanted) {
      this.#outbox.cancel(slot.member(this.#instance))
      this.close(slot)
    } else if (slot.leaves) {
      this.putAside(slot)
    } else if (fence !== undefined) {
      this.#grant(slot, Number(fence), proof, slot.resumes?.claims === true ? this.leaseMs : Number(leftMs))
    } else {
      if (slot.claimMs !== null) this.keep(slot, slot.claimMs)
      slot.place.onQueued(Number(position))
    }
  }

  #adopt(slot: Slot, name: MemberName, found: FoundPlace): void {
    slot.adopt(name)
    this.#stand(slot)
    if (!slot.unwanted) slot.place.onFound(found)
  }

  /** A ticket of this instance has been taken up by another. */
  #taken(member: string): void {
    const name = readMember(member)
    const slot = name === undefined ? undefined : this.#slots.find(name.ticket)
    if (slot === undefined || slot.number !== name?.number) return
    this.close(slot)
    slot.place.onTaken()
  }

  /** Its client has gone, and may come back (R24). */
  putAside(slot: Slot): void {
    if (slot.state === 'sent') {
      slot.leaves = true
    } else if (slot.state === 'waiting') {
      this.#waiting -= 1
      this.#aside += 1
      slot.state = 'aside'
      this.#outbox.leave(slot.member(this.#instance), null)
    } else if (slot.state === 'unsent' || slot.state === 'held') {
      // Nothing of it is in the store, but perhaps the place that it was to take up.
      this.giveUp(slot)
    }
  }

  /** Once its turn has come it is held for so long, until somebody claims it (R24). */
  keep(slot: Slot, claimMs: number): void {
    slot.claimMs = claimMs
    if (slot.state === 'waiting' || slot.state === 'running') this.#outbox.leave(slot.member(this.#instance), claimMs)
  }

  /** All tickets are in the store again; it is told anew whose client is not there. */
  broughtBack(): void {
    for (const slot of this.#slots.all()) {
      if (slot.state === 'aside') this.#outbox.leave(slot.member(this.#instance), null)
      else if (slot.claimMs !== null) this.keep(slot, slot.claimMs)
    }
  }

  /** A grant `member/fence` from an answer, a hint or a list (R10). */
  applyGrant(grant: string, proof: Proof): void {
    const [member = '', fenceText] = grant.split('/')
    const name = readMember(member)
    const fence = Number(fenceText)
    if (name === undefined || !Number.isSafeInteger(fence) || fence < 0) return
    if (fence === 0) {
      this.#taken(member)
      return
    }
    const slot = this.#slots.find(name.ticket)
    if (slot?.state === 'sent' && !slot.unwanted && !slot.leaves) {
      // The hint overtook the answer to its own acquire.
      if (slot.resumes === null) {
        slot.number = name.number
        this.#stand(slot)
      } else {
        this.#adopt(slot, name, { permits: name.permits, ageMs: 0 })
      }
    }
    if (slot !== undefined) this.#takeNumber(slot, name.number)
    if (slot === undefined || (slot.number !== name.number && !slot.leaves)) this.#outbox.giveBack(member)
    else if (slot.state === 'waiting') this.#grant(slot, fence, proof)
  }

  #grant(slot: Slot, fence: number, { sentAtMs, leaseFromMs }: Proof, leaseMs = this.leaseMs): void {
    const now = this.#clock.now()
    if (now - sentAtMs >= this.#freshMs) {
      // Others may have got its place meanwhile: it keeps waiting under its number, the next exchange decides (R12).
      this.needsFull = true
      return
    }
    if (fence > this.highestFence) this.highestFence = fence
    slot.state = 'running'
    slot.grantedAtMs = now
    slot.endsAtMs = Math.max(leaseFromMs, slot.askedAtMs) + leaseMs
    this.#waiting -= 1
    this.#running += 1
    slot.place.onGranted({ fence, endsAtMs: slot.endsAtMs })
  }

  /** It runs by this instance's own leave, since the store does not answer (R25). */
  letIn(slot: Slot): void {
    const now = this.#clock.now()
    const { state } = slot
    slot.state = 'running'
    if (state === 'waiting') this.#waiting -= 1
    else if (state === 'unsent') this.#outbox.withdrawn()
    slot.runsAlone = true
    slot.grantedAtMs = now
    slot.endsAtMs = now + this.leaseMs
    this.#running += 1
    this.#alone += 1
    this.highestFence += 1
    slot.place.onGranted({ fence: this.highestFence, endsAtMs: slot.endsAtMs })
  }

  /** From now on what runs by this instance's own leave is like all else: the store is told of it. One that never had a number gets one. */
  endAlone(): void {
    if (this.#alone === 0) return
    for (const slot of this.#slots.all()) {
      if (!slot.runsAlone) continue
      slot.runsAlone = false
      if (slot.number !== '') continue
      this.highestFence += 1
      slot.number = numberText(this.highestFence)
    }
    this.#alone = 0
  }

  /** All own running tickets as the store has them; from `firstFence` on there is a fence for each. */
  applyRunning(members: readonly string[], firstFence: number, proof: Proof): void {
    const seen = new Set<Slot>()
    for (const member of members) {
      const name = readMember(member)
      const slot = name === undefined ? undefined : this.#slots.find(name.ticket)
      if (slot !== undefined) this.#takeNumber(slot, name!.number)
      if (slot === undefined || slot.number !== name?.number) {
        this.#outbox.giveBack(member)
        continue
      }
      if (slot.state === 'waiting') this.#grant(slot, firstFence + seen.size, proof)
      seen.add(slot)
    }
    for (const slot of this.#slots.all()) {
      // Only what was granted before that exchange was sent can be missing from its answer (R11).
      if (slot.state !== 'running' || slot.runsAlone || seen.has(slot)) continue
      if (slot.grantedAtMs < proof.sentAtMs) this.lose(slot, 'taken')
    }
  }

  /** The queue gives a place up; true if the store has to be told. */
  giveUp(slot: Slot): boolean {
    switch (slot.state) {
      case 'unsent':
        this.close(slot)
        this.#outbox.withdrawn()
        return false
      case 'held':
        this.close(slot)
        return false
      case 'sent':
        slot.unwanted = true
        slot.place.slot = undefined
        return true
      case 'waiting':
      case 'aside':
        this.#outbox.cancel(slot.member(this.#instance))
        this.close(slot)
        return true
      case 'running': {
        const { runsAlone, number } = slot
        // The store may have it in the line, or not at all.
        if (!runsAlone) this.#outbox.release(slot.member(this.#instance))
        else if (number !== '') this.#outbox.cancel(slot.member(this.#instance))
        this.close(slot)
        return !runsAlone || number !== ''
      }
      case 'gone':
        return false
    }
  }

  /** The limit is now so: whoever needs more can never run (R8). */
  refuseImpossible(concurrency: number): void {
    if (concurrency === 0) return
    for (const slot of this.#slots.all()) {
      if (slot.place.permits <= concurrency || slot.state !== 'waiting') continue
      this.#outbox.cancel(slot.member(this.#instance))
      this.refuse(slot, 'limitFell')
    }
  }
}

function numberText(number: number): string {
  return number.toFixed(0).padStart(16, '0')
}
