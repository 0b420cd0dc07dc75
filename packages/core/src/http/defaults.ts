import type { GateOptions } from './options.js'
import { queueOnlyNames } from './resolvedOptions.js'

/**
 * Options over defaults. A queue that is given brings its own options along, so defaults for making one do not concern it.
 */
export function withDefaults<Options extends GateOptions<never>>(defaults: Options, options: Options): Options {
  const merged = { ...defaults, ...options }
  if (options.queue === undefined) return merged
  return Object.fromEntries(
    Object.entries(merged).filter(([name]) => name in options || !queueOnlyNames.includes(name)),
  ) as Options
}
