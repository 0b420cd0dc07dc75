import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const page = fileURLToPath(new URL('../docs/reliability.md', import.meta.url))
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (fault|what|---)\b/.test(line) && !line.startsWith('| --- '))

test('every row of the page on reliability names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(20)
  const missing = rows.filter((row) => {
    const cell = row.split(' | ').at(-1)!
    const [, path, name] = /\[[^\]]+\]\(([^)]+)\) “(.+)”/.exec(cell) ?? []
    return path === undefined || !readFileSync(join(dirname(page), path), 'utf8').includes(name!)
  })
  expect(missing).toEqual([])
})
