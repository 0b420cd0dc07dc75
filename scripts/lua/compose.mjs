import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { checkAndStrip } from './check.mjs'
import { parseHeader } from './header.mjs'
import { LuaSourceError, readLua, toLines } from './source.mjs'

/** @import { Header } from './header.mjs' */
/** @import { SourceLine } from './source.mjs' */

const LUA_DIRECTORY = fileURLToPath(new URL('../../lua', import.meta.url))
const INCLUDE = /^\s*--@include\s+(\S+)\s*$/

/**
 * @typedef {object} ComposeOptions
 * @property {Record<string, string>} [fragments] Lua source by fragment name, to stand in for `lua/lib/<name>.lua`.
 *   Naming a fragment that does not exist is an error; one that the script does not include is ignored.
 * @property {string} [directory] where the scripts are; default the repository's `lua/`
 */

/**
 * A script as Redis gets it.
 * @typedef {object} ComposedScript
 * @property {string} name
 * @property {string} lua
 * @property {string} sha1 of `lua`, hexadecimal: the name for EVALSHA
 * @property {Header} header
 */

/**
 * Puts a script together: header checked, names bound, fragments included, comments stripped.
 * @param {string} name of the file `lua/<name>.lua`
 * @param {ComposeOptions} [options]
 * @returns {ComposedScript}
 */
export function composeScript(name, { fragments = {}, directory = LUA_DIRECTORY } = {}) {
  const lines = readLua(directory, name, 'lua')
  if (!lines) throw new Error(`there is no script lua/${name}.lua`)
  for (const fragment of Object.keys(fragments)) {
    if (!readLua(`${directory}/lib`, fragment, 'lua/lib')) {
      throw new Error(`there is no fragment lua/lib/${fragment}.lua to stand in for`)
    }
  }

  const { header, body } = parseHeader(name, lines)
  const included = includeFragments(body, { fragments, directory, done: new Set(), open: [] })
  const lua = checkAndStrip([...prologue(header, `lua/${name}.lua`), ...included])
  return { name, lua, sha1: createHash('sha1').update(lua).digest('hex'), header }
}

/**
 * Binds the header's names to KEYS and ARGV, so that a header cannot say one thing and its script do another.
 * @param {Header} header
 * @param {string} file
 * @returns {SourceLine[]}
 */
function prologue({ keys, args, rest }, file) {
  /** @type {string[]} */
  const code = []
  if (keys.length > 0) {
    code.push(
      `local ${keys.map(({ name }) => name).join(', ')} = ${keys.map((_, index) => `KEYS[${index + 1}]`).join(', ')}`,
    )
  }
  if (args.length > 0) {
    const values = args.map(({ type }, index) =>
      type === 'number' ? `tonumber(ARGV[${index + 1}])` : `ARGV[${index + 1}]`,
    )
    code.push(`local ${args.map(({ name }) => name).join(', ')} = ${values.join(', ')}`)
  }
  // The index in ARGV of the first of the remaining values.
  if (rest) code.push(`local ${rest.name} = ${args.length + 1}`)
  return code.map((text) => ({ text, file, line: 1 }))
}

/**
 * Replaces each `--@include name` by the fragment's text; a fragment that stands there already is not repeated.
 * @param {SourceLine[]} lines
 * @param {{ fragments: Record<string, string>, directory: string, done: Set<string>, open: string[] }} state
 * @returns {SourceLine[]}
 */
function includeFragments(lines, state) {
  return lines.flatMap((line) => {
    if (!line.text.trimStart().startsWith('--@include')) return [line]
    const name = INCLUDE.exec(line.text)?.[1]
    if (!name) throw new LuaSourceError(line, 'expected "--@include name"')
    if (state.open.includes(name))
      throw new LuaSourceError(line, `fragments include each other: ${[...state.open, name].join(' > ')}`)
    if (state.done.has(name)) return []
    state.done.add(name)

    const replacement = Object.hasOwn(state.fragments, name) ? state.fragments[name] : undefined
    const fragment =
      replacement === undefined
        ? readLua(`${state.directory}/lib`, name, 'lua/lib')
        : toLines(replacement, `stand-in for lua/lib/${name}.lua`)
    if (!fragment) throw new LuaSourceError(line, `there is no fragment lua/lib/${name}.lua`)
    return includeFragments(fragment, { ...state, open: [...state.open, name] })
  })
}
