import { AsyncLocalStorage } from 'node:async_hooks'
import { format } from 'node:util'

/** One test of a suite, for whatever test framework. */
export interface SuiteTest {
  /** The group that it belongs to, and what it proves. */
  readonly name: string
  /** How long it may take on a busy machine, in milliseconds; most take a hundredth of it. */
  readonly timeoutMs: number
  /** Runs it. Rejects with what has gone wrong. */
  readonly run: () => Promise<void>
}

type Body = () => void | Promise<void>

/** What goes with a test. */
interface TestTerms {
  readonly timeoutMs: number
}

const usual: TestTerms = { timeoutMs: 20_000 }

/** Where `describe` and `test` put what they are told, while a suite is collected. */
let collected: { readonly path: readonly string[]; readonly tests: SuiteTest[] } | undefined

/** What the running test has to do when it ends. */
const endings = new AsyncLocalStorage<Body[]>()

/** The tests that `tell` tells of by `describe` and `test`. */
export function collect(tell: () => void): readonly SuiteTest[] {
  const tests: SuiteTest[] = []
  collected = { path: [], tests }
  try {
    tell()
  } finally {
    collected = undefined
  }
  return tests
}

/** A group of tests. */
export function describe(group: string, tell: () => void): void {
  const outer = collected!
  collected = { path: [...outer.path, group], tests: outer.tests }
  try {
    tell()
  } finally {
    collected = outer
  }
}

function addTest(name: string, body: Body, { timeoutMs }: TestTerms = usual): void {
  const { path, tests } = collected!
  tests.push({ name: [...path, name].join(': '), timeoutMs, run: () => runWithEndings(body) })
}

type Add<Row extends unknown[]> = (name: string, body: (...row: Row) => void | Promise<void>, terms?: TestTerms) => void

interface TellTest extends Add<[]> {
  /** The same test for each row of a table; a `%s` in the name is the next column. */
  readonly each: {
    <Row extends unknown[] | [unknown]>(rows: readonly Row[]): Add<Row>
    <Row extends readonly unknown[]>(rows: readonly Row[]): Add<{ -readonly [Column in keyof Row]: Row[Column] }>
    <Row>(rows: readonly Row[]): Add<[Row]>
  }
}

/** A test, in the group that is told of. */
export const test: TellTest = Object.assign(addTest, {
  each: (rows: readonly unknown[]): Add<never[]> => {
    return (name, body, terms) => {
      const columns = name.split('%s').length - 1
      for (const row of rows) {
        const values = (Array.isArray(row) ? row : [row]) as never[]
        addTest(format(name, ...values.slice(0, columns)), () => body(...values), terms)
      }
    }
  },
})

/** Does something when the running test has ended, in whatever way; the last told first. */
export function afterTest(ending: Body): void {
  endings.getStore()!.push(ending)
}

async function runWithEndings(body: Body): Promise<void> {
  const todo: Body[] = []
  const errors: unknown[] = []
  const attempt = async (step: Body): Promise<void> => {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  await endings.run(todo, async () => {
    await attempt(body)
    for (let ending = todo.pop(); ending !== undefined; ending = todo.pop()) await attempt(ending)
  })
  // What went wrong first is what the others come from.
  if (errors.length > 0) throw errors[0]
}
