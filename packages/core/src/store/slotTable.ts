import type { Place } from './contract.js'
import { Slot } from './slot.js'

/** An instance's slots, found by their ticket. A ticket is `index.count`: where its slot is, and how many there were before (R1). */
export class SlotTable {
  readonly #slots: (Slot | undefined)[] = []
  readonly #free: number[] = []
  #count = 0

  open(place: Place, nowMs: number): Slot {
    const index = this.#free.pop() ?? this.#slots.length
    this.#count += 1
    const slot = new Slot(place, index, `${index.toString(36)}.${this.#count.toString(36)}`, nowMs)
    this.#slots[index] = slot
    return slot
  }

  find(ticket: string): Slot | undefined {
    const slot = this.#slots[Number.parseInt(ticket, 36)]
    return slot?.ticket === ticket ? slot : undefined
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
