// `npm start`: from a fresh clone to the running example.
import { installDependencies, ROOT, runInstalled, runMain } from './process.mjs'

await runMain(async () => {
  await installDependencies()
  await runInstalled('typescript/bin/tsc', ['-b', 'examples/express-chat'])
  // In this process, so that signals and the exit code are the server's own.
  await import(new URL(`file://${ROOT}examples/express-chat/dist/server.js`).href)
})
