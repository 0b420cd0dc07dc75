// `npm run gate`: everything that can be checked without running the product. Runs all checks, then says which failed.
import { CommandError, installDependencies, ROOT, run, runInstalled, runMain } from './process.mjs'

/**
 * @param {string} script
 * @param {string[]} args
 */
const own = (script, ...args) => run(process.execPath, [`${ROOT}scripts/${script}`, ...args])

/** @type {[title: string, check: () => Promise<void>][]} */
const checks = [
  ['format', () => runInstalled('oxfmt/bin/oxfmt', ['--check'])],
  // Before lint: what is linted with types must have them.
  ['types and build', () => own('build.mjs')],
  ['lint, import rules', () => runInstalled('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings'])],
  ['generated files', () => own('build-lua.mjs', '--check')],
  ['unused code', () => runInstalled('knip/bin/knip.js', [])],
  ['packages as users get them', () => own('check-packages.mjs')],
  ['size of the client', () => own('check-client-size.mjs')],
  ['export snapshot', () => runInstalled('vitest/vitest.mjs', ['run', 'test/exports.test.ts'])],
]

await runMain(async () => {
  await installDependencies()
  /** @type {string[]} */
  const summary = []
  let failures = 0
  for (const [title, check] of checks) {
    console.log(`\n=== ${title} ===`)
    const failure = await check().then(
      () => undefined,
      (error) => error,
    )
    if (failure) failures++
    if (failure) console.error(failure.message)
    summary.push(`${failure ? 'FAILED' : 'ok    '}  ${title}`)
  }
  console.log(`\n=== gate ===\n${summary.join('\n')}`)
  if (failures > 0) throw new CommandError(`${failures} of ${checks.length} checks failed`, 1)
})
