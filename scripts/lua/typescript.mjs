/** @import { ComposedScript } from './compose.mjs' */

const PREAMBLE = `// Generated from lua/*.lua by scripts/build-lua.mjs. Do not edit; run \`npm run lua\`.

/** A script with what its header says; \`keys\` and \`args\` are the names, in order. */
export interface Script {
  readonly name: string
  /** SHA-1 of \`lua\` in hexadecimal: the name for EVALSHA. */
  readonly sha1: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly lua: string
}

/** What follows the script in an EVALSHA or EVAL: the number of keys, the keys, the arguments. */
export type ScriptArguments = (string | number)[]
`

/**
 * The TypeScript module with every script and a typed function that lists its keys and arguments in order.
 * @param {ComposedScript[]} scripts
 * @returns {string}
 */
export function generateTypeScript(scripts) {
  return [PREAMBLE, ...scripts.map(scriptToTypeScript)].join('\n')
}

/** @param {ComposedScript} script */
function scriptToTypeScript({ name, lua, sha1, header }) {
  const { keys, args, rest, description, replies } = header
  const constant = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
  const type = constant.charAt(0).toUpperCase() + constant.slice(1)
  const keyType = `${type}Keys`
  const argType = `${type}Arguments`
  const properties = [
    ...args.map((arg) => property(arg.name, arg.type, arg.description)),
    ...(rest ? [property(rest.name, 'readonly (string | number)[]', rest.description)] : []),
  ]
  const parameters = [
    keys.length > 0 ? `keys: ${keyType}` : '',
    properties.length > 0 ? `args: ${argType}` : '',
  ].filter(Boolean)
  const values = [
    String(keys.length),
    ...keys.map((key) => `keys.${key.name}`),
    ...args.map((arg) => `args.${arg.name}`),
    ...(rest ? [`...args.${rest.name}`] : []),
  ]

  return [
    ...(keys.length > 0
      ? [`export interface ${keyType} {`, ...keys.map((key) => property(key.name, 'string', key.description)), '}', '']
      : []),
    ...(properties.length > 0 ? [`export interface ${argType} {`, ...properties, '}', ''] : []),
    '/**',
    ...comment([
      `${description.charAt(0).toUpperCase()}${description.slice(1)}`,
      '',
      ...replies.map((reply) => `Replies ${reply}`),
    ]),
    ' */',
    `export const ${constant}: Script = {`,
    `  name: '${name}',`,
    `  sha1: '${sha1}',`,
    `  keys: [${keys.map((key) => `'${key.name}'`).join(', ')}],`,
    `  args: [${[...args, ...(rest ? [rest] : [])].map((arg) => `'${arg.name}'`).join(', ')}],`,
    `  lua: \`${lua.replace(/\\|`|\$\{/g, '\\$&')}\`,`,
    '}',
    '',
    `export function ${constant}Arguments(${parameters.join(', ')}): ScriptArguments {`,
    '  return [',
    ...values.map((value) => `    ${value},`),
    '  ]',
    '}',
    '',
  ].join('\n')
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} description
 */
function property(name, type, description) {
  return [`  /** ${escapeComment(description)} */`, `  readonly ${name}: ${type}`].join('\n')
}

/** @param {string[]} lines */
function comment(lines) {
  return lines.map((line) => ` * ${escapeComment(line)}`.trimEnd())
}

/** @param {string} text */
function escapeComment(text) {
  return text.replaceAll('*/', '*\\/')
}
