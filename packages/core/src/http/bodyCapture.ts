/** More than this of a body that is kept back is dropped. */
const MOST_BYTES = 64 * 1024

/** Collects what is written, up to a bound. */
export class BodyCapture {
  readonly #chunks: Buffer[] = []
  #size = 0
  #truncated = false

  get body(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  get truncated(): boolean {
    return this.#truncated
  }

  /** @throws TypeError for what no stream takes, as `write` does */
  add(chunk: unknown, encoding: unknown): void {
    const bytes =
      typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.from(chunk as Uint8Array)
    const room = MOST_BYTES - this.#size
    if (bytes.length > room) this.#truncated = true
    const kept = bytes.subarray(0, room)
    this.#size += kept.length
    if (kept.length > 0) this.#chunks.push(kept)
  }
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8'
}
