import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Stands for what an upload costs (a virus scanner, a converter).
 * @returns the file's SHA-256, as hexadecimal digits
 * @throws AbortError when its sender has left
 */
export async function scan(path: string, ms: number, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  await sleep(ms, undefined, { signal })
  return hash.digest('hex')
}
