// `npm run test:matrix`: what a change of Node can break, on every line of Node that we support, each from the npm package `node`. Arguments
// go on to vitest; `NODES="22 24"` chooses.
import { execFileSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { CommandError, installDependencies, run, runMain } from './process.mjs'
import { chromium, ensureProgram, nginx, redisServer } from './programs.mjs'

/** The oldest that the packages' `engines` allow, and the newest of each later line. */
const NODES = ['20.19.0', '22', '24', '26']

/** The examples, the model and the repository's own scripts ask nothing of Node that the other tests do not. */
const LEFT_OUT = ['examples/**', 'test/model/**', 'scripts/**']

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
  for (const program of [redisServer, chromium, nginx]) env[program.variable] = await ensureProgram(program)
  const versions = process.env['NODES']?.split(/[\s,]+/) ?? NODES
  const chosen = process.argv.slice(2)
  const tests = chosen.length > 0 ? chosen : LEFT_OUT.map((files) => `--exclude=${files}`)
  /** @type {string[]} */
  const passed = []
  /** @type {string[]} */
  const failed = []
  for (const wanted of versions) {
    const node = fetchNode(wanted)
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    console.log(`\n=== Node ${version} ===`)
    // Programs that tests start run on the same Node.
    const path = [dirname(node), env['PATH']].join(delimiter)
    try {
      await run(node, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
        env: { ...env, PATH: path },
      })
      passed.push(version)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      failed.push(version)
    }
  }
  if (failed.length > 0) throw new CommandError(`failed on Node ${failed.join(', ')}`, 1)
  console.log(`\nall tests passed on Node ${passed.join(', ')}`)
})
