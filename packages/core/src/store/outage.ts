import type { Clock, Timer } from '../base/clock.js'
import type { InstanceListener } from './contract.js'

/** Whether the store answers, and since when not: who hears of it, and when an instance begins to go on by itself (R25). */
export class Outage {
  readonly #clock: Clock
  readonly #listener: InstanceListener
  readonly #patienceMs: number
  readonly #onLasting: () => void
  #timer: Timer | undefined
  #isOn = false
  #cause: unknown

  /** `onLasting` is called when an outage that was noticed lasts for another `patienceMs`: a short one is waited for. */
  constructor(clock: Clock, listener: InstanceListener, patienceMs: number, onLasting: () => void) {
    this.#clock = clock
    this.#listener = listener
    this.#patienceMs = patienceMs
    this.#onLasting = onLasting
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** What went wrong last; undefined while the store answers. */
  get cause(): unknown {
    return this.#cause
  }

  /** The store did not answer. */
  noticed(cause: unknown): void {
    this.#cause = cause
    if (this.#isOn) return
    this.#isOn = true
    this.#timer = this.#clock.setTimer(this.#onLasting, this.#patienceMs, 'background')
    this.#listener.healthChanged(false, cause)
  }

  /** The store answered. */
  over(): void {
    this.#cause = undefined
    if (!this.#isOn) return
    this.#isOn = false
    this.#timer?.cancel()
    this.#listener.healthChanged(true, undefined)
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
