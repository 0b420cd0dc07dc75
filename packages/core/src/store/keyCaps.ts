import { OptionError } from '../base/errors.js'
import { optionError, readInteger, refuseUnknown } from '../base/options.js'

/** What each key (user, tenant, API key) may have of a queue. Tickets without a key have no caps. `Infinity`: no cap. */
export interface KeyCaps {
  /**
   * Tickets of one key that may run at once; 0: none. The rest of its tickets are parked in their order, out of the line, until
   * one of its own ends.
   */
  readonly concurrency: number
  /** Tickets of one key that may wait; 0: refused where it cannot run at once. */
  readonly maxQueueSize: number
}

/** No caps. */
export const NO_KEY_CAPS: KeyCaps = { concurrency: Infinity, maxQueueSize: Infinity }

const names: ReadonlySet<string> = new Set<keyof KeyCaps>(['concurrency', 'maxQueueSize'])

/** Reads caps; what is left out is no cap. @throws OptionError */
export function readKeyCaps(value: unknown): KeyCaps {
  if (typeof value === 'function')
    throw new OptionError(
      'perKey',
      'Option "perKey" cannot be a function of the request, caps are the same for every key.',
    )
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw optionError('perKey', 'an object with "concurrency" and "maxQueueSize"', value)
  refuseUnknown(value, names)
  const { concurrency = Infinity, maxQueueSize = Infinity } = value as { readonly [Name in keyof KeyCaps]?: unknown }
  return {
    concurrency: readInteger('perKey.concurrency', concurrency, { infinite: true }),
    maxQueueSize: readInteger('perKey.maxQueueSize', maxQueueSize, { infinite: true }),
  }
}

export function sameKeyCaps(a: KeyCaps, b: KeyCaps): boolean {
  return a.concurrency === b.concurrency && a.maxQueueSize === b.maxQueueSize
}
