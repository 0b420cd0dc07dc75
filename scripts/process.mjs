import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Pinned here alone. It is run through npx, so that a machine with only Node and npm needs nothing else. */
const PNPM = 'pnpm@12.4.2'

/** A command that ended badly; `exitCode` is what this process should end with. */
export class CommandError extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/**
 * Runs a command in the foreground, from the root of the repository unless told otherwise, and passes signals on to it.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<void>} rejects with a {@link CommandError} unless the command ends with 0
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    // On Windows npx is a batch file, which only a shell can run.
    const shell = process.platform === 'win32' && command === 'npx'
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', shell, ...options })
    /** @type {NodeJS.Signals[]} */
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    /** @param {NodeJS.Signals} signal */
    const passOn = (signal) => void child.kill(signal)
    for (const signal of signals) process.on(signal, passOn)

    const settle = () => {
      for (const signal of signals) process.off(signal, passOn)
    }
    child.once('error', (error) => {
      settle()
      reject(new CommandError(`cannot run ${command}: ${error.message}`, 127))
    })
    child.once('exit', (code, signal) => {
      settle()
      if (code === 0) resolve()
      else
        reject(
          new CommandError(`${[command, ...args].join(' ')} ended with ${signal ?? code}`, code ?? exitCodeOf(signal)),
        )
    })
  })
}

/**
 * Shells report an end by a signal as 128 + its number.
 * @param {NodeJS.Signals | null} signal
 */
function exitCodeOf(signal) {
  return 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[String(signal)] ?? 0)
}

/**
 * Runs a program of a package that is installed at the root, without npx in between.
 * @param {string} program for example `typescript/bin/tsc`
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function runInstalled(program, args, options) {
  return run(process.execPath, [`${ROOT}node_modules/${program}`, ...args], options)
}

/**
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function pnpm(args, options) {
  return run('npx', ['-y', PNPM, ...args], options)
}

/** Installs exactly what the lock file says; quick when all is there. */
export function installDependencies() {
  return pnpm(['install', '--frozen-lockfile'])
}

/**
 * Runs a script's main function and ends the process as it says, without a stack for a failed command.
 * @param {() => Promise<void>} main
 */
export async function runMain(main) {
  try {
    await main()
  } catch (error) {
    console.error(error instanceof CommandError ? error.message : error)
    process.exitCode = error instanceof CommandError ? error.exitCode : 1
  }
}
