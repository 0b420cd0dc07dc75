import type { Place } from './contract.js'
import { Slot, type Resumption } from './slot.js'

/** An instance's slots, found by their ticket, which begins with where its slot is. */
export class SlotTable {
  readonly #slots: (Slot | undefined)[] = []
  readonly #free: number[] = []

  open(place: Place, nowMs: number, resumes: Resumption | null): Slot {
    const index = this.#free.pop() ?? this.#slots.length
    const slot = new Slot(place, index, nowMs, resumes)
    this.#slots[index] = slot
    return slot
  }

  find(ticket: string): Slot | undefined {
    const slot = this.#slots[Number.parseInt(ticket, 36)]
    return slot?.isCalled(ticket) === true ? slot : undefined
  }

  close({ index }: Slot): void {
    this.#slots[index] = undefined
    this.#free.push(index)
  }

  /** The slots of this moment, in no order. */
  all(): Slot[] {
    return this.#slots.filter((slot) => slot !== undefined)
  }
}
