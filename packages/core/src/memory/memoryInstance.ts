import type { Clock } from '../base/clock.js'
import { randomId } from '../base/randomId.js'
import type { Instance, InstanceListener, JoinOptions, Place, StoreStatus } from '../store/contract.js'
import type { Settings, SettingsChange, SettingsRecord } from '../store/settings.js'
import type { Entry, Member, MemoryQueue } from './memoryQueue.js'

const DONE = Promise.resolve()

/** One `FairQueue`'s end of a queue in this process. Needs neither heartbeats nor hints: it lives and dies with the line itself. */
export class MemoryInstance implements Instance, Member {
  readonly id: string = randomId()
  readonly declared: Settings
  readonly clock: Clock
  readonly listener: InstanceListener
  readonly #queue: MemoryQueue
  readonly #onLeave: () => void

  constructor(options: JoinOptions, queue: MemoryQueue, onLeave: () => void) {
    this.declared = options.declared
    this.clock = options.clock
    this.listener = options.listener
    this.#queue = queue
    this.#onLeave = onLeave
  }

  enter(place: Place): void {
    this.#queue.enter(place, this)
  }

  giveUp(place: Place): Promise<void> {
    const entry = place.slot as Entry | undefined
    if (entry !== undefined) this.#queue.giveUp(entry)
    return DONE
  }

  resume(name: string, place: Place, claims: boolean): void {
    this.#queue.resume(name, place, this, claims)
  }

  nameOf(place: Place): string | null {
    return place.slot === undefined ? null : this.#queue.nameOf(place.slot as Entry)
  }

  putAside(place: Place): void {
    if (place.slot !== undefined) this.#queue.putAside(place.slot as Entry)
  }

  keep(place: Place, claimMs: number): void {
    if (place.slot !== undefined) this.#queue.keep(place.slot as Entry, claimMs)
  }

  async status(sample: readonly Place[]): Promise<StoreStatus> {
    const queue = this.#queue
    return {
      waiting: queue.waiting,
      running: queue.used,
      instances: queue.instances.size,
      grants: queue.grants,
      atMs: this.clock.now(),
      positions: sample.map((place) => queue.position(place)),
      settings: queue.settings,
    }
  }

  async configure(change: SettingsChange): Promise<SettingsRecord> {
    return this.#queue.configure(change)
  }

  leave(): Promise<void> {
    this.#queue.leave(this)
    this.#onLeave()
    return DONE
  }
}
