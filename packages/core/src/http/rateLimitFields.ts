import { encodeText } from '../base/encoding.js'

/** A limit as a refused client is told of it. */
interface PolicyRecord {
  /** The queue's name, any string. */
  readonly name: string
  /** How many may run at once. */
  readonly quota: number
  /** Seconds after which there may be room again. */
  readonly resetS: number
}

/** Prints a record as header lines. Several limiters on one route each append theirs. */
export type PolicyPrinter = (policy: PolicyRecord) => readonly (readonly [name: string, value: string])[]

/** The fields of draft-ietf-httpapi-ratelimit-headers-08 and later: structured fields (RFC 9651), one list member per policy. */
export const draft8: PolicyPrinter = ({ name, quota, resetS }) => {
  const label = structuredString(name)
  return [
    ['RateLimit-Policy', `${label};q=${quota};qu="concurrent-requests"`],
    ['RateLimit', `${label};r=0;t=${resetS}`],
  ]
}

/** A string of RFC 9651 holds printable ASCII only; what has more, or is very long, is encoded as it is in a store's keys. */
function structuredString(text: string): string {
  const plain = /^[\x20-\x7e]{1,64}$/.test(text) ? text : encodeText(text)
  return `"${plain.replace(/["\\]/g, '\\$&')}"`
}
