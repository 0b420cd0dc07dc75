import luaparse from 'luaparse'
import { LuaSourceError } from './source.mjs'

/** @import { SourceLine } from './source.mjs' */
/** @typedef {[from: number, to: number]} Range offsets in the text, the end exclusive */

/** All that a script may use without defining it. Redis itself refuses other globals, but only when the line is reached. */
const GLOBALS = new Set(
  (
    'redis server KEYS ARGV cjson cmsgpack struct bit math string table ' +
    'assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall'
  ).split(' '),
)

/**
 * Parses composed Lua, refuses what would fail at run time only, and drops comments and blank lines.
 * @param {SourceLine[]} lines
 * @returns {string}
 */
export function checkAndStrip(lines) {
  const text = lines.map((line) => line.text).join('\n')
  const { comments, strings, globals } = parse(text, lines)
  for (const { name, line } of globals) {
    if (!GLOBALS.has(name))
      throw new LuaSourceError(lines[line - 1] ?? { file: '?', line }, `"${name}" is not defined; a global?`)
  }
  return dropBlankLines(cut(text, comments, strings))
}

/**
 * @param {string} text
 * @param {SourceLine[]} lines
 */
function parse(text, lines) {
  /** @type {Range[]} */
  const strings = []
  try {
    const chunk = luaparse.parse(text, {
      luaVersion: '5.1',
      comments: true,
      ranges: true,
      locations: true,
      scope: true,
      onCreateNode(node) {
        if (node.type === 'StringLiteral') strings.push(rangeOf(node))
      },
    })
    return { comments: (chunk.comments ?? []).map(rangeOf), strings, globals: globalsOf(chunk) }
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('line' in error)) throw error
    const line = Number(error.line)
    throw new LuaSourceError(lines[line - 1] ?? { file: '?', line }, error.message.replace(/^\[\d+:\d+\] /, ''))
  }
}

/**
 * @param {object} node
 * @returns {Range}
 */
function rangeOf(node) {
  // The parser's types do not know of the option `ranges`.
  return /** @type {{ range: Range }} */ (node).range
}

/**
 * @param {object} chunk
 * @returns {{ name: string, line: number }[]} where each global is first used
 */
function globalsOf(chunk) {
  // The parser's types do not know of the option `scope`.
  const { globals } = /** @type {{ globals: { name: string, loc: { start: { line: number } } }[] }} */ (chunk)
  return globals.map(({ name, loc }) => ({ name, line: loc.start.line }))
}

/**
 * Cuts the comments out and splits what remains into lines, told apart by whether a string runs through their end.
 * @param {string} text
 * @param {Range[]} comments in order
 * @param {Range[]} strings
 * @returns {{ text: string, insideString: boolean }[]}
 */
function cut(text, comments, strings) {
  const breaksInStrings = new Set(
    strings.flatMap(([from, to]) => [...text.slice(from, to).matchAll(/\n/g)].map(({ index }) => from + index)),
  )
  /** @type {{ text: string, insideString: boolean }[]} */
  const lines = []
  let line = ''
  let insideString = false
  let next = 0
  for (let index = 0; index < text.length; index++) {
    const comment = comments[next]
    if (comment && index === comment[0]) {
      line += ' '
      index = comment[1] - 1
      next++
    } else if (text[index] === '\n') {
      const endsInString = breaksInStrings.has(index)
      lines.push({ text: endsInString ? line : line.trimEnd(), insideString: insideString || endsInString })
      line = ''
      insideString = endsInString
    } else {
      line += text[index]
    }
  }
  lines.push({ text: line.trimEnd(), insideString })
  return lines
}

/** @param {{ text: string, insideString: boolean }[]} lines */
function dropBlankLines(lines) {
  return lines
    .filter(({ text, insideString }) => insideString || text !== '')
    .map(({ text }) => text)
    .join('\n')
}
