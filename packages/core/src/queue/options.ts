import { systemClock, type Clock } from '../base/clock.js'
import type { Duration } from '../base/duration.js'
import { OptionError } from '../base/errors.js'
import { processLogger, type Logger } from '../base/logger.js'
import { optionError, readDurationMs, readWord, refuseUnknown } from '../base/options.js'
import { randomId } from '../base/randomId.js'
import type { Store } from '../store/contract.js'
import { NO_KEY_CAPS, type KeyCaps } from '../store/keyCaps.js'
import { readSetting, type Settings } from '../store/settings.js'

/** Options of a {@link FairQueue}. Durations are milliseconds or text such as `'20s'`. Unknown names are refused. */
export interface FairQueueOptions {
  /** The line's name: the same name on the same store is the same line. Default: a line of its own. Required with a `store`. */
  readonly name?: string
  /** Where the line lives. */
  readonly store?: Store
  /** Permits that may run at once, over all processes: a whole number ≥ 0 (0: nobody runs, all wait) or `Infinity`. Required. */
  readonly concurrency: number
  /** Tickets that may wait: a whole number ≥ 0 (0: no line, refused when busy) or `Infinity`. Default 1000. */
  readonly maxQueueSize?: number
  /** How long a ticket may wait. 0: try once. Default 30 s. */
  readonly maxWaitMs?: Duration
  /** Hard cap on one run: then `lease.signal` fires and the permits go to the next. Greater than 0. Default 600 s. */
  readonly leaseMs?: Duration
  /** false: everybody passes without a place. Default true. */
  readonly enabled?: boolean
  /**
   * Caps on the tickets of one key; those without a key have none. `concurrency`: how many may run at once, the rest is parked in its
   * order and is passed by others. `maxQueueSize`: how many may wait, one more is refused (`KeyLimitError`). Whole numbers ≥ 0 or `Infinity`;
   * what is left out is no cap. Default: no caps.
   */
  readonly perKey?: Partial<KeyCaps>
  /** A process that is silent for so long loses its places. Greater than 0. Default 10 s. The memory store has no use for it. */
  readonly livenessMs?: Duration
  /** How often a waiting process asks the store although no hint came. Greater than 0. Default 1 s. */
  readonly pollIntervalMs?: Duration
  /** How long a Redis must have been up before a line that it does not know opens at once. Default 3 s. */
  readonly bootGraceMs?: Duration
  /** How often positions are refreshed while somebody watches. Greater than 0. Default 1 s. */
  readonly statusIntervalMs?: Duration
  /** How long a request waits for an answer of the store. Greater than 0. Default 1 s. */
  readonly storeTimeoutMs?: Duration
  /**
   * What happens when the store does not answer within `storeTimeoutMs`. `'local'`: this process goes on with its own line, at its share of the limit
   * (`concurrency` divided by the instances last seen, at least 1), until the store answers again. `'closed'` refuses (503), `'open'` lets pass
   * uncounted. Default `'local'`.
   */
  readonly onStoreError?: OnStoreError
  /** Where warnings go. Default: `process.emitWarning`. */
  readonly logger?: Logger
  /** The time that this queue goes by; for tests. Default: its store's, which is the process' own. */
  readonly clock?: Clock
}

/** See {@link FairQueueOptions.onStoreError}. */
export type OnStoreError = 'local' | 'closed' | 'open'

/** The same with every default filled in and every duration in milliseconds. */
export interface ResolvedQueueOptions {
  readonly name: string
  readonly store: Store
  readonly declared: Settings
  readonly livenessMs: number
  readonly pollIntervalMs: number
  readonly bootGraceMs: number
  readonly statusIntervalMs: number
  readonly storeTimeoutMs: number
  readonly onStoreError: OnStoreError
  readonly logger: Logger
  readonly clock: Clock
}

const known: Readonly<Record<keyof FairQueueOptions, true>> = {
  name: true,
  store: true,
  concurrency: true,
  maxQueueSize: true,
  maxWaitMs: true,
  leaseMs: true,
  enabled: true,
  perKey: true,
  livenessMs: true,
  pollIntervalMs: true,
  bootGraceMs: true,
  statusIntervalMs: true,
  storeTimeoutMs: true,
  onStoreError: true,
  logger: true,
  clock: true,
}

/** The names of all options of a queue. */
export const queueOptionNames: ReadonlySet<string> = new Set(Object.keys(known))

/**
 * Checks the options and fills in the defaults. `fallbackStore` is used where the options name none.
 * @throws OptionError naming the option and what it got
 */
export function resolveQueueOptions(options: FairQueueOptions, fallbackStore?: Store): ResolvedQueueOptions {
  if (typeof options !== 'object' || options === null) throw optionError('options', 'an object', options)
  refuseUnknown(options, queueOptionNames)
  const { name, store = fallbackStore, logger = processLogger } = options
  if (store === undefined) throw new OptionError('store', 'Option "store" is required here.')
  if (typeof store !== 'object' || store === null || typeof store.join !== 'function')
    throw optionError('store', 'a store', store)
  if (options.store !== undefined && name === undefined) {
    throw new OptionError('name', 'Option "name" is required with a "store": it is what all processes call this line.')
  }
  if (name !== undefined && (typeof name !== 'string' || name === ''))
    throw optionError('name', 'a text that is not empty', name)
  if (typeof logger?.warn !== 'function') throw optionError('logger', 'an object with a function "warn"', logger)
  const duration = (option: keyof FairQueueOptions, fallback: number, min = 1): number =>
    readDurationMs(option, options[option] === undefined ? fallback : options[option], { min })
  return {
    name: name ?? `private-${randomId()}`,
    store,
    declared: {
      concurrency: readSetting('concurrency', options.concurrency),
      maxQueueSize: readSetting('maxQueueSize', withDefault(options.maxQueueSize, 1000)),
      maxWaitMs: readSetting('maxWaitMs', withDefault(options.maxWaitMs, 30_000)),
      leaseMs: readSetting('leaseMs', withDefault(options.leaseMs, 600_000)),
      enabled: readSetting('enabled', withDefault(options.enabled, true)),
      perKey: readSetting('perKey', withDefault(options.perKey, NO_KEY_CAPS)),
    },
    livenessMs: duration('livenessMs', 10_000),
    pollIntervalMs: duration('pollIntervalMs', 1000),
    bootGraceMs: duration('bootGraceMs', 3000, 0),
    statusIntervalMs: duration('statusIntervalMs', 1000),
    storeTimeoutMs: duration('storeTimeoutMs', 1000),
    onStoreError: readWord('onStoreError', withDefault(options.onStoreError, 'local'), ['local', 'closed', 'open']),
    logger,
    clock: options.clock ?? store.clock ?? systemClock,
  }
}

/** Only a missing value gets the default: `null` is a value, and refused. */
function withDefault(value: unknown, fallback: unknown): unknown {
  return value === undefined ? fallback : value
}
