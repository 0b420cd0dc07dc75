// The programs beside Node that the tests need: finds them, and installs them where that is simple.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CommandError, run } from './process.mjs'

/**
 * @typedef {object} Program
 * @property {string} title
 * @property {string} variable the environment variable that names it, by path or by a name on the PATH
 * @property {string[]} names on the PATH
 * @property {string} aptPackage
 */

/** @type {Program} */
export const redisServer = {
  title: 'a Redis server',
  variable: 'REDIS_SERVER',
  names: ['redis-server', 'valkey-server'],
  aptPackage: 'redis-server',
}

/** @type {Program} */
export const chromium = {
  title: 'Chromium',
  variable: 'CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  aptPackage: 'chromium',
}

/** @type {Program} */
export const nginx = {
  title: 'nginx',
  // `NGINX` is a variable of its own, for sockets that it inherits.
  variable: 'NGINX_SERVER',
  // On Debian it is not on the PATH of everybody.
  names: ['nginx', '/usr/sbin/nginx'],
  aptPackage: 'nginx',
}

/**
 * @param {Program} program
 * @returns {string | undefined} its path
 */
export function findProgram({ variable, names }) {
  const chosen = process.env[variable]
  return (chosen ? [chosen] : names).map(onPath).find((path) => path !== undefined)
}

/**
 * Finds a program, or installs it as root on Debian and its kin, or says how to get it.
 * @param {Program} program
 * @returns {Promise<string>} its path
 */
export async function ensureProgram(program) {
  const found = findProgram(program)
  if (found) return found

  const { title, variable, names, aptPackage } = program
  if (process.env[variable]) {
    throw new CommandError(`${variable} names "${process.env[variable]}", which is no program that can be run`, 1)
  }
  const missing = `The tests need ${title} (${names.join(' or ')} on the PATH, or ${variable} set to its path)`
  if (!canInstall()) {
    throw new CommandError(
      `${missing}. Debian or Ubuntu: apt-get install ${aptPackage}; macOS: brew install ${brewName(program)}`,
      1,
    )
  }
  console.log(
    `${missing}. Installing it now: apt-get update && apt-get install ${aptPackage} (FAIRQUEUE_NO_INSTALL=1 forbids this)`,
  )
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('apt-get', ['update', '-q'], { env })
  await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', aptPackage], { env })

  const installed = findProgram(program)
  if (!installed)
    throw new CommandError(`${aptPackage} was installed, but none of ${names.join(', ')} is on the PATH`, 1)
  return installed
}

function canInstall() {
  const forbidden = !['', '0', undefined].includes(process.env['FAIRQUEUE_NO_INSTALL'])
  return !forbidden && process.getuid?.() === 0 && existsSync('/etc/debian_version') && onPath('apt-get') !== undefined
}

/** @param {Program} program */
function brewName({ aptPackage }) {
  return { 'redis-server': 'redis', chromium: '--cask chromium' }[aptPackage] ?? aptPackage
}

/**
 * @param {string} name a name or a path
 * @returns {string | undefined}
 */
function onPath(name) {
  const directories = /[/\\]/.test(name) ? [''] : (process.env['PATH'] ?? '').split(delimiter)
  return directories.map((directory) => (directory ? join(directory, name) : name)).find(isExecutable)
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
