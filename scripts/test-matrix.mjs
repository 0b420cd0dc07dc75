// `npm run test:matrix`: the packages' own tests and the suites on every Node that we support, each from the npm package `node`. Arguments
// go on to vitest; `NODES="22 24"` chooses.
import { execFileSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { CommandError, installDependencies, run, runMain } from './process.mjs'
import { chromium, ensureProgram, redisServer } from './programs.mjs'

const NODES = ['20', '22', '24', '26']

/** What a change of Node can break. The examples and the tests of whole processes ask nothing of it that these do not. */
const TESTS = ['packages', 'test/memoryStore.test.ts', 'test/redisStore.test.ts']

/**
 * @param {string} version a major, or more of it
 * @returns {string} the path of that Node
 */
function fetchNode(version) {
  const print = ['-e', 'process.stdout.write(process.execPath)']
  return execFileSync('npx', ['--yes', `--package=node@${version}`, 'node', ...print], { encoding: 'utf8' })
}

await runMain(async () => {
  await installDependencies()
  const env = { ...process.env }
  for (const program of [redisServer, chromium]) env[program.variable] = await ensureProgram(program)
  const versions = process.env['NODES']?.split(/[\s,]+/) ?? NODES
  const chosen = process.argv.slice(2)
  /** @type {string[]} */
  const failed = []
  for (const version of versions) {
    const node = fetchNode(version)
    console.log(`\n=== Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()} ===`)
    // Programs that tests start run on the same Node.
    const path = [dirname(node), env['PATH']].join(delimiter)
    try {
      await run(node, ['node_modules/vitest/vitest.mjs', 'run', ...(chosen.length > 0 ? chosen : TESTS)], {
        env: { ...env, PATH: path },
      })
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      failed.push(version)
    }
  }
  if (failed.length > 0) throw new CommandError(`failed on Node ${failed.join(', ')}`, 1)
  console.log(`\nall tests passed on Node ${versions.join(', ')}`)
})
