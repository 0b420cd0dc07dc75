// `npm run test:storm`: four servers, their clients and a Redis, and everything goes wrong. Arguments go on to test/storm/storm.ts.
import { installDependencies, ROOT, run, runMain } from './process.mjs'
import { ensureProgram, redisServer } from './programs.mjs'

await runMain(async () => {
  await installDependencies()
  const env = { ...process.env, [redisServer.variable]: await ensureProgram(redisServer) }
  await run(process.execPath, [`${ROOT}scripts/build.mjs`])
  await run(process.execPath, [`${ROOT}test/dist/storm/storm.js`, ...process.argv.slice(2)], { env })
})
