// Builds packages/core/src/redis/scripts.generated.ts from lua/*.lua; with --check only says whether it is current.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { composeScript } from './lua/compose.mjs'
import { generateTypeScript } from './lua/typescript.mjs'

export { composeScript } from './lua/compose.mjs'
export { LuaSourceError } from './lua/source.mjs'

const LUA_DIRECTORY = fileURLToPath(new URL('../lua', import.meta.url))
const GENERATED = 'packages/core/src/redis/scripts.generated.ts'

/**
 * The generated module for all scripts of a directory.
 * @param {string} [directory] default the repository's `lua/`
 * @returns {string}
 */
export function buildLua(directory = LUA_DIRECTORY) {
  const names = readdirSync(directory)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => file.slice(0, -'.lua'.length))
    .toSorted()
  return generateTypeScript(names.map((name) => composeScript(name, { directory })))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = fileURLToPath(new URL(`../${GENERATED}`, import.meta.url))
  try {
    const text = buildLua()
    if (!process.argv.includes('--check')) {
      writeFileSync(target, text)
    } else if (readGenerated(target) !== text) {
      throw new Error(`${GENERATED} is not current; run \`npm run lua\``)
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

/** @param {string} path */
function readGenerated(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
