import { expect, vi } from 'vitest'

/** How long a test waits for what must come; much, because a machine may be busy. */
const PATIENCE_MS = 30_000

vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

/** Expects it to become true in time. */
export function eventually<Value>(read: () => Value): ReturnType<typeof expect.poll<Value>> {
  return expect.poll(read, { interval: 20, timeout: PATIENCE_MS })
}
