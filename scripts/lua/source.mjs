import { existsSync, readFileSync } from 'node:fs'

/**
 * One line of Lua and where it was written, so that every later step can name file and line.
 * @typedef {{ text: string, file: string, line: number }} SourceLine
 */

/** A fault in a Lua source, told as `file:line: what is wrong`. */
export class LuaSourceError extends Error {
  /**
   * @param {{ file: string, line: number }} at
   * @param {string} problem
   */
  constructor(at, problem) {
    super(`${at.file}:${at.line}: ${problem}`)
    this.name = 'LuaSourceError'
  }
}

/**
 * @param {string} text
 * @param {string} file the name to use in messages
 * @returns {SourceLine[]}
 */
export function toLines(text, file) {
  return text.split(/\r?\n/).map((line, index) => ({ text: line, file, line: index + 1 }))
}

/**
 * Reads `<directory>/<name>.lua`.
 * @param {string} directory
 * @param {string} name
 * @param {string} shownAs how messages name the directory
 * @returns {SourceLine[] | undefined} undefined when there is no such file
 */
export function readLua(directory, name, shownAs) {
  const path = `${directory}/${name}.lua`
  return existsSync(path) ? toLines(readFileSync(path, 'utf8'), `${shownAs}/${name}.lua`) : undefined
}
