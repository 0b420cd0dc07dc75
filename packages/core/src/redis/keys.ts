import { encodeText } from '../base/encoding.js'

/** The keys of one queue. All carry its encoded name as hash tag, so they share one slot of a Cluster. */
export interface QueueKeys {
  readonly waiting: string
  readonly running: string
  readonly instances: string
  readonly aside: string
  readonly state: string
  readonly parked: string
  readonly keyed: string
}

/** `prefix:{name}:waiting` and so on. */
export function queueKeys(prefix: string, name: string): QueueKeys {
  const base = `${prefix}:{${encodeText(name)}}`
  return {
    waiting: `${base}:waiting`,
    running: `${base}:running`,
    instances: `${base}:instances`,
    aside: `${base}:aside`,
    state: `${base}:state`,
    parked: `${base}:parked`,
    keyed: `${base}:keyed`,
  }
}
