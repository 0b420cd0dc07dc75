// Runs the benchmarks named on the command line, or all, one after the other, each in a process of its own.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BENCHMARKS = [
  'enterAndLeave',
  'handOver',
  'fourProcesses',
  'manyWaiters',
  'waiterMemory',
  'memoryStore',
  'virtualHead',
  'expressHello',
]

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !BENCHMARKS.includes(name))
if (unknown === undefined) {
  for (const name of asked.length === 0 ? BENCHMARKS : asked) {
    console.log(`\n=== ${name} ===`)
    const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(`./${name}.js`, import.meta.url))], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  }
} else {
  console.error(`There is no benchmark "${unknown}". There are: ${BENCHMARKS.join(', ')}.`)
  process.exitCode = 1
}
