import type { Clock } from '../base/clock.js'
import { OptionError } from '../base/errors.js'
import { show } from '../base/options.js'
import { within } from './deadline.js'
import type { ResolvedHttpOptions } from './resolvedOptions.js'

/** Whose request it is, or that it needs no place. */
export type Identity = { readonly pass: true } | { readonly pass: false; readonly key: string | undefined }

/** It needs no place. */
export const PASS: Identity = { pass: true }

const NOBODY: Identity = { pass: false, key: undefined }

/** How long the user's functions may think. */
const ANSWER_WITHIN_MS = 1000

/** The options that identify a request. */
type Functions<Request> = Pick<ResolvedHttpOptions<Request>, 'skip' | 'keyGenerator'>

/**
 * Asks `skip` and `keyGenerator` about a request; a promise only if one of them gave one.
 * @throws whatever they throw, and OptionError for what is no key, or comes too late (as a rejection where a promise is returned)
 */
export function identify<Request>(
  request: Request,
  options: Functions<Request>,
  clock: Clock,
): Identity | Promise<Identity> {
  const { skip } = options
  if (skip === undefined) return identifyKey(request, options, clock)
  const skipped = skip(request)
  if (!isThenable(skipped)) return skipped ? PASS : identifyKey(request, options, clock)
  return within(ANSWER_WITHIN_MS, clock, 'skip', skipped).then((yes) =>
    yes ? PASS : identifyKey(request, options, clock),
  )
}

function identifyKey<Request>(
  request: Request,
  { keyGenerator }: Functions<Request>,
  clock: Clock,
): Identity | Promise<Identity> {
  if (keyGenerator === undefined) return NOBODY
  const key = keyGenerator(request)
  return isThenable(key) ? within(ANSWER_WITHIN_MS, clock, 'keyGenerator', key).then(readKey) : readKey(key)
}

function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

function readKey(key: unknown): Identity {
  if (key === undefined || key === null || key === '') return NOBODY
  if (typeof key === 'string') return { pass: false, key }
  throw new OptionError(
    'keyGenerator',
    `The function "keyGenerator" must return a text, null or undefined, got ${show(key)}.`,
  )
}
