import { setTimeout } from 'node:timers/promises'

/** Something slow that stops when nobody wants it any more. */
export async function work(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal })
}
