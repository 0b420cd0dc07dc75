// `npm test`: from a fresh clone to the result of every test. Arguments go on to vitest.
import { CommandError, installDependencies, runInstalled, runMain } from './process.mjs'
import { chromium, ensureProgram, nginx, redisServer } from './programs.mjs'

await runMain(async () => {
  await installDependencies()
  const env = { ...process.env }
  for (const program of [redisServer, chromium, nginx]) env[program.variable] = await ensureProgram(program)
  try {
    await runInstalled('vitest/vitest.mjs', ['run', ...process.argv.slice(2)], { env })
  } catch (error) {
    // vitest has said what failed, and its last line counts the tests.
    if (!(error instanceof CommandError)) throw error
    process.exitCode = error.exitCode
  }
})
