/** What a process hears comes through its gate; closed, all of it waits, in order. */
export class Gate {
  #open = true
  #waiting: (() => void)[] = []

  pass(deliver: () => void): void {
    if (this.#open) deliver()
    else this.#waiting.push(deliver)
  }

  close(): void {
    this.#open = false
  }

  open(): void {
    this.#open = true
    const waiting = this.#waiting
    this.#waiting = []
    for (const deliver of waiting) deliver()
  }
}
