import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('dist/programs/routeTests.js', import.meta.url))

test("a user's test of a route passes under node:test, without sleeping and without anything that keeps it alive", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', PROGRAM])
  expect(stdout).toContain('ok 1 - who waits too long is told so')
  expect(stdout).toContain('# fail 0')
})
