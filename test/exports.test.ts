import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { describe, expect, test } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

const entries = [
  '@fairqueue/core',
  '@fairqueue/core/http',
  '@fairqueue/core/redis',
  '@fairqueue/core/testing',
  '@fairqueue/core/testing/adapter',
  '@fairqueue/core/testing/store',
  '@fairqueue/express',
  '@fairqueue/koa',
  '@fairqueue/client',
  '@fairqueue/fastify',
]

describe.each(entries)('%s', (entry) => {
  test('exports what the snapshot lists, no more and no less', () => {
    const values = importedNames(entry)
    const names = declaredNames(entry)
    expect(names.map((name) => (values.includes(name) ? name : `type ${name}`)).join('\n')).toMatchSnapshot()
    expect(names).toEqual(expect.arrayContaining(values))
  })

  test('offers the same to import and to require', () => {
    expect(Object.keys(require(entry) as object).toSorted()).toEqual(importedNames(entry))
  })
})

test('the adapters of all frameworks export the same names', () => {
  const [express, koa, fastify] = ['express', 'koa', 'fastify'].map((name) => importedNames(`@fairqueue/${name}`))
  expect(koa).toEqual(express)
  // Fastify's plugins are also what a module is by default.
  expect(fastify).toEqual(['default', ...express!].toSorted())
})

function importedNames(entry: string): string[] {
  return runModule(`import * as entry from '${entry}'; console.log(Object.keys(entry).join())`).split(',').toSorted()
}

/** The names in the built declarations of an entry: its values and its types. */
function declaredNames(entry: string): string[] {
  const built = fileURLToPath(runModule(`console.log(import.meta.resolve('${entry}'))`)).replace(/\.js$/, '.d.ts')
  const { staticExports } = parseSync(built, readFileSync(built, 'utf8')).module
  // An `export *` has no name here; it then shows as what it is.
  const names = staticExports.flatMap((each) => each.entries.map(({ exportName }) => exportName.name ?? 'export *'))
  return names.toSorted()
}

/** Runs a module in a Node of its own: only there does a package's name lead to what is built, as it does for users. */
function runModule(script: string): string {
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: here, encoding: 'utf8' }).trim()
}
