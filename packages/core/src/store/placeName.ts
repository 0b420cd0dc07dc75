/**
 * How a place is called outside: whoever knows it can take the place up again, on any instance, with the same key (R24). The number finds
 * it, the secret proves that it is theirs.
 */
export interface PlaceName {
  /** The arrival number, 16 digits. */
  readonly number: string
  /** 72 random bits. */
  readonly secret: string
}

/** As text, safe in headers and URLs. */
export function writePlaceName({ number, secret }: PlaceName): string {
  return `${number}.${secret}`
}

/** Reads such a text; null for anything else. */
export function readPlaceName(text: string): PlaceName | null {
  const match = /^(\d{16})\.([\w-]{12})$/.exec(text)
  return match === null ? null : { number: match[1]!, secret: match[2]! }
}
