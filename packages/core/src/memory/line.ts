/** Something that stands in a line, in the order of `order`, which is unique. */
export interface Ordered {
  readonly order: number
}

/** Large enough that a line of 100,000 has few chunks, small enough that shifting one is cheap. */
const CHUNK_SIZE = 512

/**
 * A waiting line: sorted, with cheap appending and taking at the head (O(1) for all practical sizes), and with removal from the middle
 * and exact positions in O(√n)-like time. A list of sorted chunks does this with a fraction of a balanced tree's code and memory.
 */
export class Line<Entry extends Ordered> {
  readonly #chunks: Entry[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The entry whose turn is next. */
  get head(): Entry | undefined {
    return this.#chunks[0]?.[0]
  }

  /** The entry whose turn is last. */
  get last(): Entry | undefined {
    return this.#chunks.at(-1)?.at(-1)
  }

  /** Puts an entry in its place, wherever its order belongs. */
  insert(entry: Entry): void {
    this.#size += 1
    const last = this.#chunks.at(-1)
    if (last === undefined || (last.at(-1)!.order < entry.order && last.length >= CHUNK_SIZE)) {
      this.#chunks.push([entry])
      return
    }
    if (last.at(-1)!.order < entry.order) {
      last.push(entry)
      return
    }
    const chunkIndex = this.#chunkOf(entry.order)
    const chunk = this.#chunks[chunkIndex]!
    chunk.splice(indexIn(chunk, entry.order), 0, entry)
    if (chunk.length > 2 * CHUNK_SIZE) this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK_SIZE))
  }

  /** Takes an entry out; false if it was not there. */
  remove(entry: Entry): boolean {
    const chunkIndex = this.#chunkOf(entry.order)
    const chunk = this.#chunks[chunkIndex]
    if (chunk === undefined) return false
    const index = indexIn(chunk, entry.order)
    if (chunk[index] !== entry) return false
    if (index === 0) chunk.shift()
    else chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1)
    this.#size -= 1
    return true
  }

  clear(): void {
    this.#chunks.length = 0
    this.#size = 0
  }

  /** How many stand before `order`, be it there or not. */
  countBefore(order: number): number {
    const chunkIndex = this.#chunkOf(order)
    const chunk = this.#chunks[chunkIndex]
    let before = chunk === undefined ? 0 : indexIn(chunk, order)
    for (let i = 0; i < chunkIndex; i += 1) before += this.#chunks[i]!.length
    return before
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (const chunk of this.#chunks) yield* chunk
  }

  /** The first chunk whose last entry is not before `order`; the number of chunks if there is none. */
  #chunkOf(order: number): number {
    if (this.#chunks.length === 0 || this.#chunks[0]!.at(-1)!.order >= order) return 0
    let low = 1
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#chunks[middle]!.at(-1)!.order < order) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Where in a sorted chunk `order` stands or would stand. */
function indexIn(chunk: readonly Ordered[], order: number): number {
  if (chunk[0]!.order >= order) return 0
  let low = 1
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (chunk[middle]!.order < order) low = middle + 1
    else high = middle
  }
  return low
}
