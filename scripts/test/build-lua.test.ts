import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildLua, composeScript } from '../build-lua.mjs'

const EXCHANGE = `--- exchange: applies a batch.
--@key waiting  ticket to order
--@key running  ticket to end
--@arg instance string whose exchange
--@arg batch number its number,
--            which only grows
--@args operations what follows
--@reply applied and the verdicts
--@include clock

-- a remark
return { 'applied', now(), waiting, running, instance, batch, ARGV[operations] }
`
const CLOCK = `-- Redis' own time.
local function now() return redis.call('TIME')[1] end
`

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'build-lua-'))
  mkdirSync(join(directory, 'lib'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, `${name}.lua`), text)
}

function compose(name: string, fragments: Record<string, string> = {}): string {
  return composeScript(name, { directory, fragments }).lua
}

/** A script with a header that is right and the body given. */
function composeBody(body: string): string {
  write({ sample: `--- sample: for a test.\n--@reply nothing\n${body}` })
  return compose('sample')
}

describe('a composed script', () => {
  test('binds the names of its header, takes in its fragments and loses its comments', () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    expect(compose('exchange')).toBe(
      [
        'local waiting, running = KEYS[1], KEYS[2]',
        'local instance, batch = ARGV[1], tonumber(ARGV[2])',
        'local operations = 3',
        "local function now() return redis.call('TIME')[1] end",
        "return { 'applied', now(), waiting, running, instance, batch, ARGV[operations] }",
      ].join('\n'),
    )
  })

  test('is named by the SHA-1 of what Redis gets', () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    const { lua, sha1 } = composeScript('exchange', { directory })
    expect(sha1).toBe(createHash('sha1').update(lua).digest('hex'))
  })

  test('can have a fragment replaced', () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    const lua = compose('exchange', { clock: 'local function now() return 5 end' })
    expect(lua).toContain('local function now() return 5 end')
    expect(lua).not.toContain('TIME')
  })

  test('cannot have a fragment replaced that does not exist', () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    expect(() => compose('exchange', { clok: '' })).toThrow('there is no fragment lua/lib/clok.lua to stand in for')
  })

  test('holds a fragment once, however often it is included', () => {
    write({ 'lib/one': '--@include base\nlocal one = base', 'lib/base': 'local base = 1' })
    expect(composeBody('--@include base\n--@include one\nreturn one')).toBe(
      'local base = 1\nlocal one = base\nreturn one',
    )
  })

  test('keeps what only looks like a comment because it stands in a string', () => {
    const body = `local a, b, c = "--x", '\\'--y', [==[\n -- z\n\n]] --w]==]\nreturn a .. b .. c`
    expect(composeBody(body)).toBe(body)
  })

  test('loses long comments and those behind code', () => {
    expect(composeBody('local a = 1 -- one\n--[[ gone\n\n]]\nlocal--[==[x]]]==]b = 2\nreturn a + b')).toBe(
      'local a = 1\nlocal b = 2\nreturn a + b',
    )
  })
})

describe('a fault is refused with file and line:', () => {
  const header = '--- sample: for a test.\n'
  test.each([
    ['a header for another name', '--- other: x\n--@reply x', 'lua/sample.lua:1: the header says "other"'],
    ['no header', 'return 1', 'lua/sample.lua:1: expected "--- sample: what it does"'],
    ['an empty file', '', 'lua/sample.lua:1: expected "--- sample: what it does"'],
    ['no reply', header, 'lua/sample.lua:1: the header has no --@reply'],
    ['an unknown tag', `${header}--@keys a b`, 'lua/sample.lua:2: unknown tag --@keys'],
    ['a key without a description', `${header}--@key a`, 'lua/sample.lua:2: expected "--@key name description"'],
    ['an argument without a type', `${header}--@arg a thing`, 'lua/sample.lua:2: expected "--@arg name string|number'],
    ['an argument of another type', `${header}--@arg a table x`, 'lua/sample.lua:2: argument "a" must be a string or'],
    ['a name that Lua reserves', `${header}--@key end x`, 'lua/sample.lua:2: "end" cannot be the name of a Lua local'],
    ['a name twice', `${header}--@key a x\n--@arg a string x\n--@reply x`, 'the name "a" is used twice'],
    [
      'an argument after the rest',
      `${header}--@args a x\n--@arg b string x`,
      'lua/sample.lua:3: --@args a must be the',
    ],
    ['a second rest', `${header}--@args a x\n--@args b x`, 'lua/sample.lua:3: --@args a must be the last argument'],
    ['a tag after the header', `${header}--@reply x\nreturn 1\n--@key a x`, 'lua/sample.lua:4: a tag outside of the'],
    [
      'an unknown fragment',
      `${header}--@reply x\n--@include nope`,
      'lua/sample.lua:3: there is no fragment lua/lib/nope',
    ],
    ['an include without a name', `${header}--@reply x\n--@include`, 'lua/sample.lua:3: expected "--@include name"'],
    [
      'a fault of syntax',
      `${header}--@reply x\n-- y\nlocal x = = 1`,
      "lua/sample.lua:4: <expression> expected near '='",
    ],
    ['a global that nobody defined', `${header}--@reply x\n\nretrun = 1`, 'lua/sample.lua:4: "retrun" is not defined'],
  ])('%s', (_, text, message) => {
    write({ sample: text })
    expect(() => compose('sample')).toThrow(message)
  })

  test('more names than Lua has room for', () => {
    const keys = Array.from({ length: 41 }, (_, index) => `--@key k${index} x\n`).join('')
    write({ sample: `--- sample: x\n${keys}--@reply x` })
    expect(() => compose('sample')).toThrow('lua/sample.lua:1: the header has 41 names')
  })

  test('fragments that include each other', () => {
    write({ 'lib/a': 'local a = 1\n--@include b', 'lib/b': '--@include a' })
    expect(() => composeBody('--@include a')).toThrow('lua/lib/b.lua:1: fragments include each other: a > b > a')
  })

  test('a fault inside a fragment', () => {
    write({ 'lib/a': '-- fine\nlocal a = nope' })
    expect(() => composeBody('--@include a')).toThrow('lua/lib/a.lua:2: "nope" is not defined')
  })
})

describe('the generated module', () => {
  const modulePath = (): string => join(directory, 'scripts.ts')
  function generate(): string {
    const text = buildLua(directory)
    writeFileSync(modulePath(), text)
    return text
  }

  test('carries the Lua unharmed, whatever characters it has', async () => {
    write({ odd: "--- odd: has them all.\n--@reply text\nreturn '\\t`${x}\\\\' .. [[\n*/]]\n" })
    generate()
    const module = await import(pathToFileURL(modulePath()).href)
    expect(module.odd).toEqual({ name: 'odd', ...composedParts('odd'), keys: [], args: [] })
    expect(module.oddArguments()).toEqual([0])
  })

  test('lists keys and arguments in the order of the header', async () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    generate()
    const module = await import(pathToFileURL(modulePath()).href)
    expect(module.exchange).toMatchObject({ keys: ['waiting', 'running'], args: ['instance', 'batch', 'operations'] })
    const keys = { running: 'r', waiting: 'w' }
    expect(module.exchangeArguments(keys, { operations: ['acquire', 1], batch: 7, instance: 'i' })).toEqual([
      2,
      'w',
      'r',
      'i',
      7,
      'acquire',
      1,
    ])
  })

  test('has a camel-case name for a script whose name has a dash', () => {
    write({ 'put-back': '--- put-back: x\n--@key a x\n--@reply x\nreturn a' })
    expect(generate()).toContain('export function putBackArguments(keys: PutBackKeys): ScriptArguments')
  })

  test('makes a wrong, missing or unknown name an error of the types', () => {
    write({ exchange: EXCHANGE, 'lib/clock': CLOCK })
    generate()
    const calls = {
      right: `({ waiting: '', running: '' }, { instance: '', batch: 1, operations: ['a', 1] })`,
      missingKey: `({ waiting: '' }, { instance: '', batch: 1, operations: [] })`,
      unknownKey: `({ waiting: '', running: '', parked: '' }, { instance: '', batch: 1, operations: [] })`,
      missingArgument: `({ waiting: '', running: '' }, { instance: '', operations: [] })`,
      missingRest: `({ waiting: '', running: '' }, { instance: '', batch: 1 })`,
      wrongType: `({ waiting: '', running: '' }, { instance: '', batch: '1', operations: [] })`,
    }
    const program = Object.values(calls).map((call) => `exchangeArguments${call}`)
    writeFileSync(
      join(directory, 'use.ts'),
      ["import { exchangeArguments } from './scripts.js'", ...program].join('\n'),
    )
    expect(linesWithTypeErrors()).toEqual([3, 4, 5, 6, 7])
  })

  function composedParts(name: string): { lua: string; sha1: string } {
    const { lua, sha1 } = composeScript(name, { directory })
    return { lua, sha1 }
  }

  function linesWithTypeErrors(): number[] {
    const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', '']
    let output = ''
    try {
      execFileSync(process.execPath, [tsc, ...options, 'use.ts'], { cwd: directory, encoding: 'utf8' })
    } catch (error) {
      output = String((error as { stdout?: string }).stdout)
    }
    return [...output.matchAll(/^use\.ts\((\d+),/gm)].map(([, line]) => Number(line))
  }
})
