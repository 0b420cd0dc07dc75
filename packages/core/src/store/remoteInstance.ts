import type { Clock } from '../base/clock.js'
import { ConflictError, StoreUnavailableError } from '../base/errors.js'
import type { Instance, InstanceListener, JoinOptions, Place, StoreStatus } from './contract.js'
import { AnswerDeadline } from './answerDeadline.js'
import type {
  ExchangeApplied,
  Exchanger,
  ExchangeReply,
  ExchangeRequest,
  ExchangerListener,
  SettingsNews,
  Standing,
} from './exchanger.js'
import { KnownSettings } from './knownSettings.js'
import { Ledger } from './ledger.js'
import { LocalLine, localLimit } from './localLine.js'
import { Deferred, Outbox, type Batch } from './outbox.js'
import { bringBack } from './rejoin.js'
import { Peers } from './peers.js'
import { Outage } from './outage.js'
import { Persistence } from './persistence.js'
import { readPlaceName, writePlaceName } from './placeName.js'
import { Schedule } from './schedule.js'
import type { SettingsChange, SettingsRecord } from './settings.js'
import type { Slot } from './slot.js'

/** How long a state that nobody uses is kept at least, beside leases and waits. */
const KEEP_MARGIN_MS = 60_000

/**
 * One instance of a queue whose state lives in another process. Everything that changes the queue goes out in batches, one exchange at a
 * time: what happens while one is under way goes with the next (group commit). The same batch is sent until it is answered (R4, R5).
 */
export class RemoteInstance implements Instance {
  readonly id: string
  readonly #options: JoinOptions
  readonly #clock: Clock
  readonly #listener: InstanceListener
  readonly #exchanger: Exchanger
  readonly #outbox = new Outbox()
  readonly #ledger: Ledger
  readonly #schedule: Schedule
  readonly #persistence: Persistence
  readonly #deadline: AnswerDeadline
  readonly #settings: KnownSettings
  readonly #peers = new Peers()
  readonly #outage: Outage
  /** Acquires that a grace holds back, oldest first. */
  #held: Slot[] = []
  #epoch = ''
  /** On the way back into a store that has lost its tickets: what was granted before says nothing any more. */
  #returning = false
  #batchNumber = 0
  #declared = false
  #busy = false
  /** The batch that is not answered yet. */
  #underWay: Batch | undefined
  #wantsEmpty = false
  #flushPlanned = false
  #wantsFull = false
  #left = false
  /** Resolves with the next connection. */
  #connected = new Deferred()
  #onDrained: (() => void) | undefined
  /** When the exchange was sent that was answered last; before any, never. */
  #provenAtMs = -Infinity
  /** It lets in by itself, since the store does not answer (R25). */
  #alone: LocalLine | undefined

  /** `connect` makes the way to the store; it gets what is to be told of it. */
  constructor(options: JoinOptions, connect: (listener: ExchangerListener) => Exchanger) {
    this.#options = options
    this.#clock = options.clock
    this.#listener = options.listener
    this.#settings = new KnownSettings(options.declared, options.listener)
    this.#outage = new Outage(options.clock, options.listener, options.storeTimeoutMs, () => this.#goAlone())
    this.#exchanger = connect({
      onReady: () => this.#greet(),
      onHint: (epoch, grants) => this.#onHint(epoch, grants),
      onWakeChannel: (open, cause) => {
        this.#peers.hears(open)
        this.#listener.wakeChannelChanged(open, cause)
        // What was published meanwhile is lost.
        if (open && this.#ledger.stored > 0) this.#exchangeSoon(true)
      },
    })
    this.id = this.#exchanger.instance
    const { livenessMs, pollIntervalMs, storeTimeoutMs } = options
    this.#ledger = new Ledger(this.#clock, this.#outbox, this.id, livenessMs, options.declared.leaseMs)
    this.#schedule = new Schedule(
      this.#clock,
      pollIntervalMs,
      livenessMs,
      () => ({
        polls: this.#ledger.waiting > 0 || (this.#declared && !this.#settings.values.enabled),
        lives: this.#ledger.stored > 0,
        held: this.#held.length > 0,
      }),
      (full) => this.#exchangeSoon(full),
    )
    this.#persistence = new Persistence(
      this.#clock,
      storeTimeoutMs,
      () => this.#exchanger.ready,
      (cause) => this.#outage.noticed(cause),
    )
    this.#deadline = new AnswerDeadline(
      this.#clock,
      storeTimeoutMs,
      () => ({
        acquires: [...(this.#underWay?.acquires ?? []), ...this.#outbox.acquires],
        settling: [...(this.#underWay === undefined ? [] : [this.#underWay.settled]), this.#outbox.settled],
      }),
      (slot) => this.#giveUpAsking(slot),
    )
  }

  enter(place: Place): void {
    this.#acquire(this.#ledger.open(place))
  }

  resume(name: string, place: Place, claims: boolean): void {
    const read = readPlaceName(name)
    if (read === null) place.onRefused('unknown')
    else this.#acquire(this.#ledger.open(place, { name: read, claims }))
  }

  nameOf(place: Place): string | null {
    const name = (place.slot as Slot | undefined)?.name ?? null
    return name === null ? null : writePlaceName(name)
  }

  putAside(place: Place): void {
    const slot = place.slot as Slot | undefined
    if (slot === undefined) return
    if (slot.state === 'held') this.#held = this.#held.filter((other) => other !== slot)
    this.#ledger.putAside(slot)
    this.#afterNews()
  }

  keep(place: Place, claimMs: number): void {
    const slot = place.slot as Slot | undefined
    if (slot === undefined) return
    this.#ledger.keep(slot, claimMs)
    this.#afterNews()
  }

  #acquire(slot: Slot): void {
    this.#outbox.acquire(slot)
    if (this.#alone === undefined) this.#deadline.arm()
    else this.#alone.enter(slot)
    this.#planFlush()
  }

  giveUp(place: Place): Promise<void> {
    const slot = place.slot as Slot | undefined
    if (slot === undefined) return Promise.resolve()
    if (slot.state === 'held') this.#held = this.#held.filter((other) => other !== slot)
    const { settled } = this.#outbox
    const told = this.#ledger.giveUp(slot)
    if (told) this.#planFlush()
    this.#alone?.letIn()
    if (!told || this.#alone !== undefined) return Promise.resolve()
    settled.askedAtMs ??= this.#clock.now()
    this.#deadline.arm()
    return settled.promise
  }

  async status(sample: readonly Place[]): Promise<StoreStatus> {
    const asked = sample.map(({ slot }) => slot as Slot | undefined)
    const inLine = asked.filter((slot) => slot?.state === 'waiting') as Slot[]
    const reply = await this.#ask(() => this.#exchanger.status(inLine.map((slot) => slot.member(this.id))))
    const positions = new Map(inLine.map((slot, index) => [slot, reply.positions[index] ?? null]))
    return {
      ...reply,
      positions: asked.map((slot) => (slot === undefined ? null : (positions.get(slot) ?? null))),
      settings: reply.settings ?? this.#settings.record,
    }
  }

  async configure(change: SettingsChange): Promise<SettingsRecord> {
    const leaseFromMs = this.#clock.now()
    const reply = await this.#ask(() => this.#exchanger.configure(change, this.#standing))
    if (reply.word === 'conflict') {
      throw new ConflictError(`The settings are at version ${reply.version}, not ${change.ifVersion}.`, reply.version)
    }
    if (reply.word === 'full') throw new StoreUnavailableError('The store has no room for new settings.')
    this.#takeSettings(reply.settings)
    // It proves nobody's life: what it lets in starts as upon a hint (R12).
    const proof = { sentAtMs: this.#provenAtMs, leaseFromMs }
    if (!this.#returning) for (const grant of reply.grants) this.#ledger.applyGrant(grant, proof)
    if (reply.more) this.#exchangeSoon(false)
    this.#afterNews()
    return reply.settings.record
  }

  async leave(withinMs: number): Promise<void> {
    if (!this.#left) {
      for (const slot of this.#ledger.all()) this.#ledger.giveUp(slot)
      this.#left = true
      if (this.#busy || !this.#outbox.isEmpty) {
        this.#planFlush()
        await new Promise<void>((resolve) => {
          const timer = this.#clock.setTimer(resolve, withinMs, 'foreground')
          this.#onDrained = () => {
            timer.cancel()
            resolve()
          }
        })
      }
    }
    this.#alone = undefined
    this.#outage.stop()
    this.#schedule.stop()
    this.#deadline.stop()
    this.#persistence.stop()
    this.#exchanger.close()
  }

  /** A connection, for the first time or again: what the store has lost shows at once (R16). */
  #greet(): void {
    this.#connected.resolve()
    this.#connected = new Deferred()
    this.#persistence.retryNow()
    this.#exchangeSoon(this.#ledger.stored > 0)
  }

  #exchangeSoon(full: boolean): void {
    this.#wantsFull ||= full
    this.#planFlush(true)
  }

  /** Sends what is there after the present tick, so that all that happens in it goes in one exchange. `empty`: even if nothing is there. */
  #planFlush(empty = false): void {
    this.#wantsEmpty ||= empty
    if (this.#busy || this.#flushPlanned) return
    this.#flushPlanned = true
    process.nextTick(() => {
      this.#flushPlanned = false
      if (!this.#busy) void this.#exchangeAll()
    })
  }

  /** One exchange after the other, as long as there is something to tell. Never rejects. */
  async #exchangeAll(): Promise<void> {
    this.#busy = true
    try {
      while ((this.#wantsEmpty || !this.#outbox.isEmpty) && !this.#persistence.stopped) {
        this.#wantsEmpty = false
        const more = await this.#exchange()
        if (more) this.#wantsEmpty = true
      }
    } catch (error) {
      // Only a fault of our own gets here; the queue must go on, and nobody may wait for an answer that is lost.
      this.#listener.troubled(error)
      for (const slot of this.#ledger.all()) if (slot.state === 'sent') this.#ledger.refuse(slot, 'unavailable', error)
    }
    this.#busy = false
    if (this.#outbox.isEmpty) this.#deadline.disarm()
    if (this.#left) this.#onDrained?.()
    else this.#schedule.arm()
  }

  /** One batch, until it is answered; whether another should follow at once. */
  async #exchange(): Promise<boolean> {
    const batch = this.#outbox.take()
    this.#underWay = batch
    this.#peers.sent()
    const sentAtMs = this.#clock.now()
    const full = this.#wantsFull || this.#knowsTooLittle(batch, sentAtMs)
    const wasSilent = this.#ledger.stored > 0 && sentAtMs - this.#provenAtMs >= this.#options.livenessMs
    this.#wantsFull = false
    this.#batchNumber += 1
    for (const slot of batch.acquires) slot.state = 'sent'
    const request: Omit<ExchangeRequest, 'holds'> = {
      batch: this.#batchNumber,
      ...this.#standing,
      declaring: !this.#declared,
      full,
      releases: batch.releases,
      cancels: batch.cancels,
      leaves: batch.leaves,
      moves: batch.leaves.length > 0 || batch.acquires.some(({ resumes }) => resumes !== null),
      acquires: batch.acquires.map(({ operation }) => operation),
    }
    // Hints arrive between two attempts: what it holds is told as it is.
    const reply = await this.#persistence.until(() =>
      this.#exchanger.exchange({ ...request, holds: this.#ledger.stored > 0 }),
    )
    this.#underWay = undefined
    if (reply === undefined) return false
    this.#answered()
    const more = await this.#apply(batch, reply, sentAtMs)
    // A late copy of what it once sent may hide that it was forgotten: what it holds is put back in any case.
    if (reply.word === 'ok' && wasSilent) await this.#rejoin(false)
    while (this.#ledger.alone > 0 && this.#alone === undefined && !this.#persistence.stopped) await this.#rejoin(false)
    return more || this.#wantsFull
  }

  /** The store answers: what was done without it ends. */
  #answered(): void {
    this.#outage.over()
    if (this.#alone === undefined) return
    this.#alone = undefined
    this.#listener.aloneChanged(null)
    for (const slot of this.#outbox.acquires) slot.askedAtMs = this.#clock.now()
    this.#deadline.arm()
  }

  /** The store does not answer: newcomers and those in line are let in by this instance alone, at its share of the limit (R25). */
  #goAlone(): void {
    if (!this.#options.goesOnAlone || !this.#outage.isOn || this.#alone !== undefined || this.#left) return
    const terms = () => {
      const settings = this.#settings.values
      return { settings, limit: localLimit(settings.concurrency, this.#peers.count) }
    }
    this.#listener.aloneChanged(terms().limit)
    this.#alone = new LocalLine(this.#ledger, terms)
    this.#alone.open()
  }

  /**
   * Whoever has tickets must know for whom a grace would have to wait (R16), also if the hint of somebody's coming was lost; so it asks
   * with its first tickets, and then at least as often as others prove that they live.
   */
  #knowsTooLittle(batch: Batch, nowMs: number): boolean {
    const has = this.#ledger.stored > 0 || batch.acquires.length > 0
    return has && nowMs - this.#peers.listedAtMs >= this.#options.livenessMs / 3
  }

  async #apply(batch: Batch, reply: ExchangeReply, sentAtMs: number): Promise<boolean> {
    if (reply.word === 'stale') throw new Error('The store answered the batch under way as one of long ago.')
    if (reply.word === 'ok') {
      this.#applyReply(batch, reply, sentAtMs)
      return reply.more
    }
    const sameEpoch = reply.epoch === this.#epoch
    if (reply.verdicts === null) {
      // Those that a hint has let in meanwhile go back with the rejoin.
      const asking = batch.acquires.filter(({ state }) => state === 'sent')
      for (const slot of asking) {
        if (slot.unwanted) this.#ledger.close(slot)
        else slot.state = 'unsent'
      }
      this.#outbox.putBack({ ...batch, acquires: asking.filter(({ unwanted }) => !unwanted) })
    } else {
      // It had been applied before the memory was lost, and its answer was lost too.
      this.#hold(this.#ledger.applyVerdicts(batch.acquires, reply.verdicts, null, { sentAtMs, leaseFromMs: sentAtMs }))
      batch.settled.resolve()
    }
    await this.#rejoin(sameEpoch)
    return true
  }

  #applyReply(batch: Batch, reply: ExchangeApplied, sentAtMs: number): void {
    this.#provenAtMs = sentAtMs
    this.#declared = true
    this.#epoch = reply.epoch
    if (reply.settings !== null) this.#takeSettings(reply.settings)
    batch.settled.resolve()
    const proof = { sentAtMs, leaseFromMs: sentAtMs }
    const held = this.#ledger.applyVerdicts(batch.acquires, reply.verdicts, reply.waiting, proof)
    if (reply.verdicts.news.length > 0) this.#ledger.refuseImpossible(this.#settings.values.concurrency)
    if (reply.full !== null) {
      // Those granted since the list before: their leases are counted from there (R13).
      const leaseFromMs = this.#peers.listedAtMs
      this.#peers.listed(reply.full.instances, reply.graceMs > 0, sentAtMs)
      this.#ledger.applyRunning(reply.full.running, reply.full.fence, { sentAtMs, leaseFromMs })
    }
    this.#hold(held)
    this.#held = this.#held.filter(({ state }) => state === 'held')
    if (reply.graceMs === 0 && this.#held.length > 0) {
      this.#outbox.acquireFirst(this.#held)
      for (const slot of this.#held) {
        slot.state = 'unsent'
        slot.askedAtMs = this.#clock.now()
      }
      this.#deadline.arm()
      this.#held = []
    }
    this.#schedule.answered(reply.full !== null, reply.nextMs, reply.graceMs)
    this.#afterNews()
  }

  /** Except those that were given up at that very word. */
  #hold(slots: readonly Slot[]): void {
    if (slots.length > 0) this.#held = [...this.#held, ...slots].filter(({ state }) => state === 'held')
  }

  /** Puts back what the store has lost, or lost sight of (R14). */
  async #rejoin(sameEpoch: boolean): Promise<void> {
    this.#returning = true
    if (sameEpoch) {
      for (const slot of this.#ledger.all())
        if (slot.state === 'running' && !slot.runsAlone) this.#ledger.lose(slot, 'forgotten')
    }
    this.#ledger.endAlone()
    const sentAtMs = this.#clock.now()
    const epoch = await bringBack({
      slots: this.#ledger.all(),
      instance: this.id,
      nowMs: sentAtMs,
      request: {
        batch: this.#batchNumber,
        ...this.#standing,
        fence: this.#ledger.highestFence,
        known: this.#peers.awaited,
      },
      send: (request) => this.#persistence.until(() => this.#exchanger.rejoin(request)),
    })
    if (epoch === undefined) return
    this.#answered()
    this.#ledger.broughtBack()
    this.#returning = false
    this.#epoch = epoch
    this.#provenAtMs = sentAtMs
    this.#peers.returned(sentAtMs)
    this.#wantsFull = true
  }

  #onHint(epoch: string, grants: readonly string[]): void {
    if (this.#left) return
    if (grants.length === 0 && epoch === this.#epoch) this.#peers.newcomer()
    if (this.#returning || epoch !== this.#epoch || grants.length === 0) {
      this.#exchangeSoon(true)
      return
    }
    // The hint may be old; but then the grant is younger than the last list of what runs.
    const proof = { sentAtMs: this.#provenAtMs, leaseFromMs: this.#peers.listedAtMs }
    for (const grant of grants) this.#ledger.applyGrant(grant, proof)
    this.#afterNews()
  }

  /** Something may have been put in the outbox, or found to need another look. */
  #afterNews(): void {
    if (this.#ledger.needsFull) {
      this.#ledger.needsFull = false
      this.#exchangeSoon(true)
    } else if (!this.#outbox.isEmpty) {
      this.#planFlush()
    }
    this.#schedule.arm()
  }

  #takeSettings(news: SettingsNews): void {
    this.#settings.take(news)
    this.#ledger.leaseMs = this.#settings.values.leaseMs
    this.#exchanger.know(this.#settings.record)
    this.#ledger.refuseImpossible(this.#settings.values.concurrency)
  }

  get #standing(): Standing {
    const { leaseMs, maxWaitMs } = this.#settings.values
    const keepMs = Math.ceil(Math.max(leaseMs, maxWaitMs) + this.#options.livenessMs) + KEEP_MARGIN_MS
    // A state that may have reached the end of its days by itself proves no loss.
    const epoch = this.#clock.now() - this.#provenAtMs < keepMs ? this.#epoch : ''
    return { epoch, revision: this.#settings.revision, keepMs }
  }

  /** No answer within `storeTimeoutMs`: the store could not decide. */
  #giveUpAsking(slot: Slot): void {
    const cause = this.#outage.cause ?? new Error(`no answer within ${this.#options.storeTimeoutMs} ms`)
    this.#outage.noticed(cause)
    if (this.#options.goesOnAlone) this.#goAlone()
    else this.#ledger.turnAway(slot, 'unavailable', cause)
  }

  /** One call outside of the batches. It waits for a connection, as newcomers do; what came too late is not sent any more. */
  async #ask<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    if (this.#left) throw new StoreUnavailableError('This instance has left the queue.')
    if (this.#alone !== undefined)
      throw new StoreUnavailableError('The store does not answer.', { cause: this.#outage.cause, retryAfterMs: 1000 })
    const untilMs = this.#clock.now() + this.#options.storeTimeoutMs
    try {
      return await this.#persistence.once(async () => {
        if (!this.#exchanger.ready) await this.#connected.promise
        if (this.#clock.now() >= untilMs) throw new Error('There was no connection to the store.')
        return await call()
      })
    } catch (cause) {
      throw new StoreUnavailableError('The store did not answer.', { cause, retryAfterMs: 1000 })
    }
  }
}
