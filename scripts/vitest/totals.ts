import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Ends the output with the tests that passed only when they were repeated, and one plain line that a program can read: `N passed, N failed`. */
export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const totals = { passed: 0, failed: unhandled.length, skipped: 0 }
    const repeated: string[] = []
    for (const module of modules) {
      // A file that could not be loaded has no tests to count.
      if (module.errors().length > 0) totals.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') totals[state]++
        if (test.diagnostic()?.flaky)
          repeated.push(`passed only at a second try: ${module.relativeModuleId} > ${test.fullName}`)
      }
    }
    const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
    const last = [...repeated, `${totals.passed} passed, ${totals.failed} failed${skipped}`]
    process.on('exit', () => console.log(last.join('\n')))
  }
}
