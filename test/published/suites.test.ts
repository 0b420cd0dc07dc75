import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { adapterTests, type SuiteTest } from '@fairqueue/core/testing/adapter'
import { storeTests } from '@fairqueue/core/testing/store'
import { describe, expect, test } from 'vitest'
import { toyAdapter, type AdapterFault } from './toyAdapter.js'
import { toyWorld, type StoreFault } from './toyStore.js'

const PROGRAM = fileURLToPath(new URL('../dist/programs/suiteTests.js', import.meta.url))

/** The one test of this name. */
function named(tests: readonly SuiteTest[], name: string): SuiteTest {
  const found = tests.filter((each) => each.name === name)
  expect(found).toHaveLength(1)
  return found[0]!
}

test('a store and an adapter that others wrote pass the suites under node:test', { timeout: 300_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', PROGRAM], {
    maxBuffer: 2 ** 26,
  })
  const total = storeTests(() => toyWorld()).length + adapterTests(toyAdapter()).length
  expect(stdout).toContain(`# tests ${total}\n`)
  expect(stdout).toContain(`# pass ${total}\n`)
})

describe('the store suite finds the fault of a store that', () => {
  test.each<[StoreFault, string, RegExp]>([
    [
      'lets in one too many',
      'waiting: with maxQueueSize 0 there is no line: whoever cannot run is refused',
      /Missing expected rejection/,
    ],
    ['forgets who gives up', 'waiting: who cancels in the line lets the others move up', /'waiting'[^]*'granted'/],
    [
      'finds no place again',
      'resuming: its turn passes it by while nobody is there; whoever comes back is the next',
      /'rejected'/,
    ],
    [
      'forgets what operators set',
      'settings: a change is in force on every instance and says what it was',
      /concurrency: 1,/,
    ],
  ])('%s', async (fault, name, told) => {
    await expect(
      named(
        storeTests(() => toyWorld(fault)),
        name,
      ).run(),
    ).rejects.toThrow(told)
  })
})

describe('the adapter suite finds the fault of an adapter that', () => {
  test.each<[AdapterFault, string, RegExp]>([
    ['runs who is refused', 'a refused request: gets a problem document with all that it needs to know', /200,[^]*503/],
    [
      'says that handlers are done at once',
      'a place: is kept while the handler works on after its response',
      /0 !== 1/,
    ],
  ])('%s', async (fault, name, told) => {
    await expect(named(adapterTests(toyAdapter(fault)), name).run()).rejects.toThrow(told)
  })
})

test('both suites have no two tests of one name', () => {
  for (const tests of [storeTests(() => toyWorld()), adapterTests(toyAdapter())]) {
    const names = tests.map(({ name }) => name)
    expect([...new Set(names)]).toEqual(names)
  }
})
