// `npm run test:newcomer`: from a README to a working line, as somebody would get there who has never seen this repository. Each package is
// packed and installed with npm into an empty folder, the code is taken out of its README, run as an ES module and as CommonJS, asked with
// real requests, and checked as TypeScript by the compilers and settings that people have.
//
// What is changed in that code, and no more: the port 3000 (and the address of Redis, and the client's relative URL) becomes one that is free,
// `import` becomes `require`, and where a module's own `await` does not exist the statements get an async function around them. What it calls
// but leaves to its reader (`askModel`, …) is in a file that is loaded before it. Arguments choose: `npm run test:newcomer -- koa jest`.
import { once } from 'node:events'
import { fork, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandError, pnpm, ROOT, run, runMain } from './process.mjs'
import { ensureProgram, redisServer } from './programs.mjs'

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * @typedef {object} Newcomer
 * @property {string[]} packages ours, beside core
 * @property {string[]} installs what the package's README has people install, and what its types need
 * @property {string} yours what the code leaves to its reader
 * @property {string} types the same for the compiler
 */

const COMPILERS = ['typescript5@npm:typescript@5.9.3', 'typescript7@npm:typescript@7.0.2', '@types/node@20.19.43']

/** A model that begins to answer at once and goes on when the test says so. `event` makes what it says an event. */
const model = (/** @type {boolean} */ event) => `
const { once } = require('node:events')
const { Readable } = require('node:stream')
async function* answer() {
  const told = once(process, 'message')
  yield ${event ? String.raw`'data: thinking\n\n'` : `'thinking'`}
  await told
  yield ${event ? String.raw`'data: done\n\n'` : `'done'`}
}
`

/** @type {Record<'express' | 'koa' | 'fastify' | 'core' | 'client', Newcomer>} */
const NEWCOMERS = {
  express: {
    packages: ['express'],
    installs: ['express@5.3.0', '@types/express@5.0.6'],
    yours: `${model(false)}globalThis.askModel = answer`,
    types: 'declare function askModel(question: unknown, signal: AbortSignal): AsyncIterable<string>',
  },
  koa: {
    packages: ['koa'],
    installs: ['koa@3.3.0', '@types/koa@3.0.3'],
    yours: `${model(true)}globalThis.askModel = answer`,
    types: 'declare function askModel(question: unknown, signal: AbortSignal): AsyncIterable<string>',
  },
  fastify: {
    packages: ['fastify'],
    installs: ['fastify@5.12.8'],
    yours: `${model(true)}globalThis.askModel = () => Readable.from(answer())`,
    types: `declare function askModel(question: unknown, signal: AbortSignal): import('node:stream').Readable`,
  },
  core: {
    packages: [],
    installs: ['ioredis@6.0.0'],
    yours: `
globalThis.userId = 'ada'
globalThis.question = 'why?'
globalThis.askModel = async (question, { signal }) => \`\${question} \${signal.aborted}\`
globalThis.overTheLimit = async (queue, answer) => {
  const leases = await Promise.all(Array.from({ length: 8 }, () => queue.acquire()))
  const ticket = queue.enter()
  const position = await new Promise((resolve) => ticket.on('status', (status) => status.position && resolve(status.position)))
  await leases.pop().release()
  leases.push(await ticket.granted)
  await Promise.all(leases.map((lease) => lease.release()))
  process.send({ answer, position })
}`,
    types: `
declare const userId: string
declare const question: string
declare function askModel(question: string, options: { signal: AbortSignal }): Promise<string>`,
  },
  client: {
    packages: ['client', 'express'],
    installs: ['express@5.3.0', '@types/express@5.0.6'],
    yours: `${model(false)}
globalThis.askModel = answer
globalThis.question = 'why?'
globalThis.show = (state, position) => process.send({ state, position })
globalThis.apologise = (code) => process.send({ code })
globalThis.readEvents = async (body) => {
  for await (const chunk of body) process.send({ text: Buffer.from(chunk).toString() })
}`,
    types: `
declare const question: string
declare function show(state: 'waiting' | 'admitted' | 'refused', position: number | null, etaMs: number | null): void
declare function readEvents(body: ReadableStream<Uint8Array> | null): Promise<void>
declare function apologise(code: string | null, retryAfterMs: number | null): void`,
  },
}

/**
 * What people have: a file, the compiler's settings and the compilers that know these. `commonjs` looks packages up as Node 10 did.
 * @type {{ file: string, options: Record<string, string>, compilers: string[] }[]}
 */
const COMPILATIONS = [
  { file: 'node16.mts', options: { module: 'node16' }, compilers: ['typescript5', 'typescript7'] },
  { file: 'node16.cts', options: { module: 'node16' }, compilers: ['typescript5', 'typescript7'] },
  {
    file: 'bundler.ts',
    options: { module: 'esnext', moduleResolution: 'bundler' },
    compilers: ['typescript5', 'typescript7'],
  },
  { file: 'commonjs.ts', options: { module: 'commonjs', moduleResolution: 'node10' }, compilers: ['typescript5'] },
  { file: 'commonjs.ts', options: { module: 'commonjs' }, compilers: ['typescript7'] },
]

/** @param {string} name of a package; @returns {string} the first code of its README */
function readmeCode(name) {
  const code = /^```js\n(.*?)^```/ms.exec(readFileSync(`${ROOT}packages/${name}/README.md`, 'utf8'))?.[1]
  if (code === undefined) throw new Error(`packages/${name}/README.md has no code`)
  return code
}

/**
 * @param {string} code
 * @param {Record<string, string>} changes each must be there
 */
function replaceAll(code, changes) {
  for (const [from, to] of Object.entries(changes)) {
    if (!code.includes(from)) throw new Error(`the README's code has no ${from}:\n${code}`)
    code = code.replaceAll(from, to)
  }
  return code
}

/** @param {string} code that of an ES module; @returns {string} the same for where a module cannot `await` */
function withoutModuleAwait(code) {
  if (!/^(try \{\n +)?(const \w+ = )?await /m.test(code)) return code
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const statements = lines.filter((line) => !line.startsWith('import '))
  return [...imports, 'async function main() {', ...statements, '}', 'void main()'].join('\n')
}

/** @param {string} code that of an ES module */
function toCommonJs(code) {
  return withoutModuleAwait(code).replaceAll(/^import (.+) from ('.+')$/gm, 'const $1 = require($2)')
}

const workplace = mkdtempSync(join(tmpdir(), 'fairqueue-newcomer-'))
const tarballs = join(workplace, 'tarballs')
/** @type {Set<ChildProcess>} */
const running = new Set()

async function packAll() {
  for (const name of readdirSync(`${ROOT}packages`)) {
    await pnpm(['--dir', `packages/${name}`, 'pack', '--pack-destination', tarballs], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
}

/**
 * @param {string} folder
 * @param {string[]} packages ours, beside core
 * @param {string[]} others
 */
async function install(folder, packages, others) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const ours = readdirSync(tarballs).filter(
    (file) => /-core-/.test(file) || packages.some((name) => file.includes(`-${name}-`)),
  )
  const wanted = [...ours.map((file) => join(tarballs, file)), ...others]
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--save-exact', '--silent', ...wanted], {
    cwd: folder,
  })
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** @param {number} port resolves when somebody listens there */
async function listening(port) {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    )
    socket.destroy()
    if (open) return
    await delay(50)
  }
  throw new Error(`nobody listens on port ${port}`)
}

/**
 * @param {ChildProcess} child
 * @returns {ChildProcess}
 */
function watched(child) {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Writes the code into a file of its folder and runs that, with what it leaves to its reader. */
function start(/** @type {string} */ folder, /** @type {string} */ file, /** @type {string} */ code) {
  writeFileSync(join(folder, file), code)
  return watched(fork(join(folder, file), { cwd: folder, execArgv: ['--require', './yours.cjs'] }))
}

/**
 * The process' next message that passes; rejects if it ends before.
 * @param {ChildProcess} child
 * @param {(message: any) => boolean} passes
 * @returns {Promise<any>}
 */
function message(child, passes) {
  return new Promise((resolve, reject) => {
    /** @param {any} news */
    const onMessage = (news) => {
      if (passes(news)) settleWith(() => resolve(news))
    }
    const onExit = () => settleWith(() => reject(new Error('the process has ended too early')))
    const late = setTimeout(
      () => settleWith(() => reject(new Error('the process has not said what it should in 30 s'))),
      30_000,
    )
    const settleWith = (/** @type {() => void} */ conclude) => {
      clearTimeout(late)
      child.off('message', onMessage).off('exit', onExit)
      conclude()
    }
    child.on('message', onMessage).on('exit', onExit)
  })
}

/** @param {ChildProcess} child */
async function end(child) {
  if (!running.has(child)) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/**
 * @param {boolean} holds
 * @param {string} what
 */
function check(holds, what) {
  if (!holds) throw new Error(`not so: ${what}`)
}

/**
 * One request of the route in the README.
 * @param {number} port
 * @param {Record<string, string>} [headers]
 */
function ask(port, headers = {}) {
  return fetch(`http://127.0.0.1:${port}/chat?question=why`, {
    method: 'POST',
    body: '{"question":"why?"}',
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(30_000),
  })
}

/** @param {number} port; @returns what fills the limit: eight answers that have begun */
async function eightThatRun(port) {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(port)))
  check(
    answers.every(({ status }) => status === 200),
    'eight requests run at once',
  )
  return answers
}

/** The ninth waits, sees its place, and is answered when one of the eight has ended. */
async function queues(/** @type {ChildProcess} */ server, /** @type {number} */ port) {
  await listening(port)
  const eight = await eightThatRun(port)
  const ninth = await ask(port, { accept: 'text/event-stream' })
  const reader = /** @type {ReadableStream<Uint8Array>} */ (ninth.body).getReader()
  let text = ''
  const until = async (/** @type {string} */ part) => {
    while (!text.includes(part)) {
      const { value, done } = await reader.read()
      check(!done, `"${part}" comes before the end of ${text}`)
      text += Buffer.from(value ?? []).toString()
    }
  }
  await until('"position":1')
  check(!text.includes('thinking'), 'the ninth does not run beside the eight')
  server.send('go on')
  for (const answer of eight) check(/done/.test(await answer.text()), 'who ran is answered')
  await until('thinking')
  check(/"admitted".*thinking/s.test(text), 'who waited is told of its turn')
  server.send('go on')
  await until('done')
}

/** @param {string} folder @param {string} code @param {string} types */
async function compiles(folder, code, types) {
  writeFileSync(join(folder, 'yours.d.ts'), types)
  for (const { file, options, compilers } of COMPILATIONS) {
    const canAwait = file !== 'commonjs.ts' && !file.endsWith('.cts')
    writeFileSync(join(folder, file), `${canAwait ? code : withoutModuleAwait(code)}\nexport {}\n`)
    for (const compiler of compilers) {
      const project = `tsconfig.${compiler}.${file}.json`
      const compilerOptions = {
        ...options,
        target: 'es2022',
        strict: true,
        esModuleInterop: true,
        skipLibCheck: false,
        noEmit: true,
        types: ['node'],
      }
      writeFileSync(join(folder, project), JSON.stringify({ compilerOptions, files: [file, 'yours.d.ts'] }))
      await run(process.execPath, [`node_modules/${compiler}/bin/tsc`, '-p', project], { cwd: folder })
    }
  }
}

/** @param {string} name @param {() => Promise<void>} attempt */
async function step(name, attempt) {
  const since = performance.now()
  try {
    await attempt()
  } catch (error) {
    if (!(error instanceof CommandError)) console.error(error)
    throw new CommandError(`newcomer: failed: ${name}`, 1)
  }
  console.log(`newcomer: ${name} (${Math.round(performance.now() - since)} ms)`)
}

/** @param {keyof typeof NEWCOMERS} name */
async function moveIn(name) {
  const { packages, installs, yours, types } = NEWCOMERS[name]
  const folder = join(workplace, name)
  await step(`${name}: installs into an empty folder`, () => install(folder, packages, [...installs, ...COMPILERS]))
  writeFileSync(join(folder, 'yours.cjs'), yours)
  const code = readmeCode(name)
  return { folder, code, types }
}

/** @type {[string, (code: string) => string][]} */
const FORMATS = [
  ['readme.mjs', (code) => code],
  ['readme.cjs', toCommonJs],
]

/** @param {'express' | 'koa' | 'fastify'} name */
async function serve(name) {
  const { folder, code, types } = await moveIn(name)
  for (const [file, translate] of FORMATS) {
    await step(`${name}: ${file} queues`, async () => {
      const port = await freePort()
      const process = start(folder, file, translate(replaceAll(code, { 3000: String(port) })))
      await queues(process, port)
      await end(process)
    })
  }
  await step(`${name}: TypeScript takes it`, () => compiles(folder, code, types))
}

async function core() {
  const { folder, code, types } = await moveIn('core')
  const program = await ensureProgram(redisServer)
  const port = await freePort()
  const redis = watched(spawn(program, ['--port', String(port), '--save', '', '--dir', folder], { stdio: 'ignore' }))
  await listening(port)
  for (const [file, translate] of FORMATS) {
    await step(`core: ${file} queues, and ends at a SIGTERM`, async () => {
      const changed = `${replaceAll(code, { 'new Redis()': `new Redis(${port})` })}\nawait overTheLimit(queue, answer)\n`
      const process = start(folder, file, translate(changed))
      const { answer, position } = await message(process, () => true)
      check(answer === 'why? false', 'what ran gives its answer')
      check(position === 1, 'the ninth waits at position 1')
      process.kill('SIGTERM')
      const [exitCode] = await once(process, 'exit', { signal: AbortSignal.timeout(15_000) })
      check(exitCode === 0, 'the process ends by itself')
    })
  }
  await end(redis)
  await step('core: TypeScript takes it', () => compiles(folder, code, types))
}

async function client() {
  const { folder, code, types } = await moveIn('client')
  for (const [file, translate] of FORMATS) {
    await step(`client: ${file} waits before the server of express' README`, async () => {
      const port = await freePort()
      const server = start(folder, 'server.mjs', replaceAll(readmeCode('express'), { 3000: String(port) }))
      await listening(port)
      const eight = await eightThatRun(port)
      const asking = start(folder, file, translate(replaceAll(code, { "'/chat'": `'http://127.0.0.1:${port}/chat'` })))
      await message(asking, ({ state, position }) => state === 'waiting' && position === 1)
      const admitted = message(asking, ({ state }) => state === 'admitted')
      const begun = message(asking, ({ text }) => text?.includes('thinking'))
      server.send('go on')
      await Promise.all([admitted, begun, ...eight.map((answer) => answer.text())])
      const done = message(asking, ({ text }) => text?.includes('done'))
      server.send('go on')
      await done
      await end(server)
    })
  }
  await step('client: TypeScript takes it', () => compiles(folder, code, types))
}

const JEST_TEST = `
const express = require('express')
const request = require('supertest')
const { createTestStore } = require('@fairqueue/core/testing')
const { fairQueue } = require('@fairqueue/express')

test('the second waits until the first has been answered', async () => {
  const store = createTestStore()
  const answers = []
  const app = express()
  app.get('/', fairQueue({ name: 'jest', store, concurrency: 1, maxWaitMs: '30s' }), (req, res) => answers.push(res))

  const first = request(app).get('/').then((response) => response.text)
  await store.until('jest', { running: 1, waiting: 0 })
  const second = request(app).get('/').then((response) => response.text)
  await store.until('jest', { running: 1, waiting: 1 })
  const third = request(app).get('/').then((response) => response.status)
  await store.until('jest', { running: 1, waiting: 2 })
  answers.shift().send('first')
  expect(await first).toBe('first')
  await store.until('jest', { running: 1, waiting: 1 })
  answers.shift().send('second')
  expect(await second).toBe('second')
  await store.until('jest', { running: 1, waiting: 0 })
  answers.shift().sendStatus(204)
  expect(await third).toBe(204)
})

test('who has waited too long is refused', async () => {
  const store = createTestStore()
  const answers = []
  const app = express()
  app.get('/', fairQueue({ name: 'jest', store, concurrency: 1, maxWaitMs: '30s' }), (req, res) => answers.push(res))

  const first = request(app).get('/').then((response) => response.text)
  await store.until('jest', { running: 1, waiting: 0 })
  const second = request(app).get('/').then((response) => response.body.code)
  await store.until('jest', { running: 1, waiting: 1 })
  await store.clock.advance(30_000)
  expect(await second).toBe('FQ_WAIT_TIMEOUT')
  answers.shift().send('first')
  expect(await first).toBe('first')
})
`

/** Jest as it comes, and Jest with Node's ES modules. The tests close nothing: no queue keeps a process alive. */
async function jest() {
  const folder = join(workplace, 'jest')
  await step('jest: installs into an empty folder', () =>
    install(folder, ['express'], ['express@5.3.0', 'jest@30.2.0', 'supertest@7.3.2']),
  )
  /** @type {[string, string, string[]][]} */
  const kinds = [
    ['commonjs.test.js', JEST_TEST, []],
    [
      'module.test.mjs',
      JEST_TEST.replaceAll(/^const (.+) = require\((.+)\)$/gm, 'import $1 from $2'),
      ['--experimental-vm-modules', '--no-warnings'],
    ],
  ]
  for (const [file, code, flags] of kinds) {
    writeFileSync(join(folder, file), code)
    const settings = JSON.stringify({ rootDir: folder, testMatch: [`**/${file}`] })
    await step(`jest: ${file} passes and leaves nothing open`, async () => {
      const args = [...flags, 'node_modules/jest/bin/jest.js', '--detectOpenHandles', '--config', settings]
      const child = watched(spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }))
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += String(chunk)))
      const [exitCode] = await once(child, 'close', { signal: AbortSignal.timeout(60_000) })
      check(exitCode === 0 && !/open handle|did not exit/i.test(said), `Jest ends well:\n${said}`)
    })
  }
}

/** @type {Record<string, () => Promise<void>>} */
const PARTS = {
  express: () => serve('express'),
  koa: () => serve('koa'),
  fastify: () => serve('fastify'),
  core,
  client,
  jest,
}

await runMain(async () => {
  const chosen = process.argv.slice(2)
  for (const name of chosen) {
    if (PARTS[name] === undefined) throw new CommandError(`"${name}" is none of ${Object.keys(PARTS).join(', ')}`, 1)
  }
  try {
    await step('packs what users get', packAll)
    for (const name of chosen.length > 0 ? chosen : Object.keys(PARTS)) await PARTS[name]?.()
  } finally {
    await Promise.all([...running].map(end))
    rmSync(workplace, { recursive: true })
  }
})
