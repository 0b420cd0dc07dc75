import { LuaSourceError } from './source.mjs'

/** @import { SourceLine } from './source.mjs' */

/**
 * @typedef {{ name: string, description: string }} Key
 * @typedef {{ name: string, type: 'string' | 'number', description: string }} Argument
 * @typedef {object} Header
 * @property {string} name
 * @property {string} description
 * @property {Key[]} keys in the order of KEYS
 * @property {Argument[]} args in the order of ARGV
 * @property {Key | undefined} rest what follows the named arguments, as many values as there are
 * @property {string[]} replies
 */

/** Lua 5.1 gives a function 60 upvalues and 200 locals; the script's own names need room beside the header's. */
const MAX_NAMES = 40

// Names become Lua locals and TypeScript properties alike.
const IDENTIFIER = /^[a-z][A-Za-z0-9_]*$/
const LUA_WORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const TAG = /^--@(\w+)(?:\s+(.*))?$/
const TITLE = /^---\s+([\w-]+):\s+(.+)$/
const CONTINUATION = /^--\s+(.+)$/

/**
 * Reads the comment block at the top of a script:
 *
 *     --- name: one sentence what it does.
 *     --@key NAME description
 *     --@arg NAME string|number description
 *     --@args NAME description
 *     --@reply description
 *
 * A comment line without a tag continues the line above it.
 * @param {string} name the script's name, that of its file
 * @param {SourceLine[]} lines
 * @returns {{ header: Header, body: SourceLine[] }}
 */
export function parseHeader(name, lines) {
  const end = lines.findIndex(({ text }) => !text.startsWith('--') || text.startsWith('--@include'))
  const block = end === -1 ? lines : lines.slice(0, end)
  const body = end === -1 ? [] : lines.slice(end)
  const [first, ...others] = block
  const at = lines[0] ?? { file: `${name}.lua`, line: 1 }

  const title = first && TITLE.exec(first.text)
  if (!title) throw new LuaSourceError(at, `expected "--- ${name}: what it does"`)
  if (title[1] !== name) throw new LuaSourceError(at, `the header says "${title[1]}", the file is called "${name}"`)

  /** @type {Header} */
  const header = { name, description: title[2] ?? '', keys: [], args: [], rest: undefined, replies: [] }
  /** @type {(more: string) => void} */
  let continueLast = (more) => (header.description += ` ${more}`)
  for (const line of others) {
    const tag = TAG.exec(line.text)
    if (tag) {
      continueLast = readTag(header, tag[1] ?? '', (tag[2] ?? '').trim(), line)
    } else {
      const more = CONTINUATION.exec(line.text)
      if (more?.[1]) continueLast(more[1].trim())
    }
  }
  if (header.replies.length === 0) throw new LuaSourceError(at, 'the header has no --@reply')
  checkNames(header, at)

  const stray = body.find(({ text }) => /^\s*--@(?!include\b)/.test(text))
  if (stray) throw new LuaSourceError(stray, `a tag outside of the header: ${stray.text.trim()}`)
  return { header, body }
}

/**
 * @param {Header} header
 * @param {string} tag
 * @param {string} value
 * @param {SourceLine} line
 * @returns {(more: string) => void} appends a continuation line to what was read
 */
function readTag(header, tag, value, line) {
  if (tag === 'reply') {
    const index = header.replies.push(value) - 1
    if (value === '') throw new LuaSourceError(line, '--@reply needs a description')
    return (more) => (header.replies[index] += ` ${more}`)
  }
  if (tag !== 'key' && header.rest)
    throw new LuaSourceError(line, `--@args ${header.rest.name} must be the last argument`)
  /** @type {Key} */
  let entry
  if (tag === 'arg') header.args.push((entry = readArgument(value, line)))
  else if (tag === 'key') header.keys.push((entry = readKey(tag, value, line)))
  else header.rest = entry = readKey(tag, value, line)
  return (more) => (entry.description += ` ${more}`)
}

/**
 * @param {string} tag
 * @param {string} value
 * @param {SourceLine} line
 * @returns {Key}
 */
function readKey(tag, value, line) {
  if (tag !== 'key' && tag !== 'args') {
    throw new LuaSourceError(line, `unknown tag --@${tag}; known are key, arg, args, reply and include`)
  }
  const [, name = '', description] = /^(\S+)\s+(.+)$/.exec(value) ?? []
  if (!description) throw new LuaSourceError(line, `expected "--@${tag} name description"`)
  return { name: identifier(name, line), description }
}

/**
 * @param {string} value
 * @param {SourceLine} line
 * @returns {Argument}
 */
function readArgument(value, line) {
  const [, name = '', type, description] = /^(\S+)\s+(\S+)\s+(.+)$/.exec(value) ?? []
  if (!description) throw new LuaSourceError(line, 'expected "--@arg name string|number description"')
  if (type !== 'string' && type !== 'number') {
    throw new LuaSourceError(line, `argument "${name}" must be a string or a number, not "${type}"`)
  }
  return { name: identifier(name, line), type, description }
}

/**
 * @param {string} name
 * @param {SourceLine} line
 */
function identifier(name, line) {
  if (!IDENTIFIER.test(name) || LUA_WORDS.has(name))
    throw new LuaSourceError(line, `"${name}" cannot be the name of a Lua local`)
  return name
}

/**
 * @param {Header} header
 * @param {{ file: string, line: number }} at
 */
function checkNames(header, at) {
  const names = [...header.keys, ...header.args, ...(header.rest ? [header.rest] : [])].map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new LuaSourceError(at, `the name "${twice}" is used twice in the header`)
  if (names.length > MAX_NAMES) {
    throw new LuaSourceError(at, `the header has ${names.length} names; Lua's limits leave room for ${MAX_NAMES}`)
  }
}
