import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ensureProgram, findProgram, redisServer } from '../programs.mjs'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'programs-'))
  vi.stubEnv('PATH', directory)
  vi.stubEnv('REDIS_SERVER', undefined)
  vi.stubEnv('FAIRQUEUE_NO_INSTALL', '1')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true })
})

function place(name: string, mode = 0o755): string {
  const path = join(directory, name)
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}

test('a program is found on the PATH under any of its names', () => {
  const path = place('valkey-server')
  expect(findProgram(redisServer)).toBe(path)
})

test('the variable goes before the PATH, with a path or a name', () => {
  place('redis-server')
  const other = place('other')
  vi.stubEnv('REDIS_SERVER', other)
  expect(findProgram(redisServer)).toBe(other)
  vi.stubEnv('REDIS_SERVER', 'other')
  expect(findProgram(redisServer)).toBe(other)
})

test('a file that cannot be executed and a folder are no programs', () => {
  place('redis-server', 0o644)
  expect(findProgram(redisServer)).toBeUndefined()
  vi.stubEnv('REDIS_SERVER', directory)
  expect(findProgram(redisServer)).toBeUndefined()
})

test('a variable that names no program is refused by its name', async () => {
  place('redis-server')
  vi.stubEnv('REDIS_SERVER', '/no/such')
  await expect(ensureProgram(redisServer)).rejects.toThrow('REDIS_SERVER names "/no/such"')
})

test('where nothing may be installed, one line says how to get the program', async () => {
  place('apt-get')
  await expect(ensureProgram(redisServer)).rejects.toThrow(
    /^The tests need a Redis server .*apt-get install redis-server.*$/,
  )
})
