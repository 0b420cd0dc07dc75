// `npm start`: from a fresh clone to a running example, `express-chat` unless another is named, and in it `server`, unless
// another program is.
//
// package.json starts this with `exec`, because npm signals only the shell that it starts a script with, and that shell
// would die without passing the signal on. (Where there is no `exec`, on Windows, what follows the `||` runs.)
import { installDependencies, runInstalled, runMain } from './process.mjs'

const [example = 'express-chat', program = 'server'] = process.argv.slice(2)

await runMain(async () => {
  await installDependencies()
  await runInstalled('typescript/bin/tsc', ['-b', `examples/${example}`])
  // A Ctrl-C comes twice, from the terminal and from npm. The server acts on the first; the second must not cut it short.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  // In this process, so that signals and the exit code are the server's own.
  await import(new URL(`../examples/${example}/dist/${program}.js`, import.meta.url).href)
})
