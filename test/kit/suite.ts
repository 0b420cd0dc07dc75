import type { SuiteTest } from '@fairqueue/core/testing/store'
import { describe, test } from 'vitest'

/** Runs a published suite under vitest, as its users do under theirs. */
export function runSuite(kind: 'store' | 'adapter', subject: string, tests: readonly SuiteTest[]): void {
  describe(`the ${kind} suite on ${subject}`, () => {
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect
    for (const { name, run, timeoutMs } of tests) test(name, run, timeoutMs)
  })
}
