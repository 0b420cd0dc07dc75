import assert from 'node:assert/strict'
import { inspect, isDeepStrictEqual } from 'node:util'

// Not those of `node:assert` themselves: what they narrow, such as the state of a ticket, is another a moment later.

/** The same value, or the same object. */
export function equal(actual: unknown, expected: unknown): void {
  assert.equal(actual, expected)
}

/** Another value. */
export function differs(actual: unknown, unexpected: unknown): void {
  assert.notEqual(actual, unexpected)
}

/** Values alike in all their parts. */
export function deepEqual(actual: unknown, expected: unknown): void {
  assert.deepEqual(actual, expected)
}

/** Alike in all that `expected` names; texts may be told by a regular expression. Lists have the same length. */
export function matches(actual: unknown, expected: unknown): void {
  assert.deepEqual(pick(actual, expected), expected)
}

/** What `like` names of a value; what matches an expression of it is told by that. */
function pick(value: unknown, like: unknown): unknown {
  if (isRegularExpression(like)) return typeof value === 'string' && like.test(value) ? like : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(like)) return Array.isArray(value) ? value.map((each, at) => pick(each, like[at])) : value
  if (!isPlain(like)) return value
  const picked: Record<string, unknown> = {}
  for (const name of Object.keys(like)) {
    if (name in value) picked[name] = pick((value as Record<string, unknown>)[name], like[name])
  }
  return picked
}

function isRegularExpression(value: unknown): value is RegExp {
  return value instanceof RegExp
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** A text within a text, or an element of a list. */
export function includes(actual: Whole, part: unknown): void {
  if (!holds(actual, part)) assert.fail(`${show(actual)} does not include ${show(part)}`)
}

/** No text within a text, no element of a list. */
export function excludes(actual: Whole, part: unknown): void {
  if (holds(actual, part)) assert.fail(`${show(actual)} includes ${show(part)}`)
}

type Whole = string | readonly unknown[] | undefined

function holds(whole: Whole, part: unknown): boolean {
  if (typeof whole === 'string') return whole.includes(String(part))
  return whole !== undefined && whole.some((each) => isDeepStrictEqual(each, part))
}

/** Greater than `bound`. */
export function above(actual: Measure, bound: number): void {
  if (!(Number(actual) > bound)) assert.fail(`${actual} is not above ${bound}`)
}

/** Less than `bound`. */
export function below(actual: Measure, bound: number): void {
  if (!(Number(actual) < bound)) assert.fail(`${actual} is not below ${bound}`)
}

/** `bound` or more. */
export function atLeast(actual: Measure, bound: number): void {
  if (!(Number(actual) >= bound)) assert.fail(`${actual} is below ${bound}`)
}

/** `bound` or less. */
export function atMost(actual: Measure, bound: number): void {
  if (!(Number(actual) <= bound)) assert.fail(`${actual} is above ${bound}`)
}

type Measure = number | null | undefined

/** Throws an error of this class, whose message holds this text or matches this expression, or with these properties. */
export function throws(attempt: () => unknown, expected: Expected): void {
  assert.throws(attempt, predicateOf(expected))
}

/** Rejects with an error of this class, whose message holds this text or matches this expression, or with these properties. */
export async function rejects(attempt: Promise<unknown>, expected: Expected): Promise<void> {
  await assert.rejects(attempt, predicateOf(expected))
}

type Expected = (new (...args: never[]) => Error) | RegExp | string | object

function predicateOf(expected: Expected): assert.AssertPredicate {
  if (typeof expected === 'function') return expected
  return (error: Error): true => {
    if (typeof expected === 'string') includes(error.message, expected)
    else if (expected instanceof RegExp) matches(error.message, expected)
    else matches(error, expected)
    return true
  }
}

/** How long what is still to happen may take on a busy machine. */
const LONGEST_MS = 10_000

/** Waits until an assertion holds. @throws what it throws last, after 10 s */
export async function eventually(assertion: () => void | Promise<void>): Promise<void> {
  const giveUpAtMs = performance.now() + LONGEST_MS
  for (;;) {
    try {
      await assertion()
      return
    } catch (error) {
      if (performance.now() > giveUpAtMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function show(value: unknown): string {
  return inspect(value, { depth: 4 })
}
