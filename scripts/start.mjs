// `npm start`: from a fresh clone to the running example.
//
// package.json starts this with `exec`, because npm signals only the shell that it starts a script with, and that shell
// would die without passing the signal on. (Where there is no `exec`, on Windows, what follows the `||` runs.)
import { installDependencies, runInstalled, runMain } from './process.mjs'

await runMain(async () => {
  await installDependencies()
  await runInstalled('typescript/bin/tsc', ['-b', 'examples/express-chat'])
  // A Ctrl-C comes twice, from the terminal and from npm. The server acts on the first; the second must not cut it short.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  // In this process, so that signals and the exit code are the server's own.
  await import(new URL('../examples/express-chat/dist/server.js', import.meta.url).href)
})
