/** Whom no list has named for so long does not share in the limit any more. */
const FORGOTTEN_AFTER_MS = 600_000

/**
 * What an instance knows of the others: for whom a grace would have to wait (R16), and how many share the limit while the store does not
 * answer (R25).
 */
export class Peers {
  /** As the store lists them, its own id among them; '' before the first list. */
  #ids = ''
  /** When the list was asked for that is the latest; before any, never. Monotonic ms. */
  #listedAtMs = -Infinity
  /** How often it heard that another has come: in all, when the exchange under way was sent, and before the list. */
  #heard = 0
  #heardWhenSent = 0
  #heardWhenListed = 0
  /** Whether hints arrive. */
  #hears = false
  /** When each was listed last. Monotonic ms. */
  readonly #lastSeenMs = new Map<string, number>()

  get listedAtMs(): number {
    return this.#listedAtMs
  }

  /**
   * For whom a grace has to wait, as ids each followed by a blank; '' where that cannot be said: nobody was ever listed, or somebody has, or may
   * have, come since.
   */
  get awaited(): string {
    return this.#ids !== '' && this.#hears && this.#heardWhenListed === this.#heard ? `${this.#ids} ` : ''
  }

  /** How many instances have been seen of late, its own included; 0: the store has never been reached. */
  get count(): number {
    return this.#lastSeenMs.size
  }

  /** A hint: another has come. */
  newcomer(): void {
    this.#heard += 1
  }

  /** Hints stopped or began to arrive. Who came meanwhile, it was not told. */
  hears(hears: boolean): void {
    this.#hears = hears
    this.#heard += 1
  }

  /** An exchange is sent. */
  sent(): void {
    this.#heardWhenSent = this.#heard
  }

  /** The answer to that exchange lists all. In a grace the store lists only who is back. */
  listed(ids: string, inGrace: boolean, sentAtMs: number): void {
    this.#ids = inGrace ? together(this.#ids, ids) : ids
    this.#listedAtMs = sentAtMs
    this.#heardWhenListed = this.#heardWhenSent
    for (const id of ids.split(' ')) if (id !== '') this.#lastSeenMs.set(id, sentAtMs)
    for (const [id, seenMs] of this.#lastSeenMs) if (seenMs < sentAtMs - FORGOTTEN_AFTER_MS) this.#lastSeenMs.delete(id)
  }

  /** All of its own tickets are in the store again: what it runs is known as if listed. */
  returned(sentAtMs: number): void {
    this.#listedAtMs = sentAtMs
  }
}

/** The words of both texts, each once. */
function together(one: string, other: string): string {
  return [...new Set(`${one} ${other}`.trim().split(' '))].join(' ')
}
