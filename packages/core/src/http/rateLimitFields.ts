import { encodeText } from '../base/encoding.js'

/** A limit as a refused client is told of it. */
interface PolicyRecord {
  /** What the limit is called, any string. */
  readonly name: string
  /** How many may run at once. */
  readonly quota: number
  /** Seconds after which there may be room again. */
  readonly resetS: number
}

type Lines = readonly (readonly [name: string, value: string])[]

/** Prints a record as header lines: those that replace what a limiter before us has said, and those that join it as members of a list. */
export type PolicyPrinter = (policy: PolicyRecord) => { readonly set: Lines; readonly append: Lines }

/** The versions of draft-ietf-httpapi-ratelimit-headers that can be printed. */
export type RateLimitDraft = 'draft-6' | 'draft-7' | 'draft-8'

/** Structured fields (RFC 9651) with one list member per policy, so that several limiters on one route each say theirs. Also -09 and -10. */
const draft8: PolicyPrinter = ({ name, quota, resetS }) => {
  const label = structuredString(name)
  return {
    set: [],
    append: [
      ['RateLimit-Policy', `${label};q=${quota};qu="concurrent-requests"`],
      ['RateLimit', `${label};r=0;t=${resetS}`],
    ],
  }
}

/** One dictionary for all limiters, and the one that refuses has the last word. A policy would need a time window, and here is none. */
const draft7: PolicyPrinter = ({ quota, resetS }) => ({
  set: [['RateLimit', `limit=${quota}, remaining=0, reset=${resetS}`]],
  append: [],
})

/** The same in three fields. */
const draft6: PolicyPrinter = ({ quota, resetS }) => ({
  set: [
    ['RateLimit-Limit', `${quota}`],
    ['RateLimit-Remaining', '0'],
    ['RateLimit-Reset', `${resetS}`],
  ],
  append: [],
})

/** What the option `standardHeaders` chooses among. */
export const policyPrinters: Readonly<Record<RateLimitDraft, PolicyPrinter>> = {
  'draft-6': draft6,
  'draft-7': draft7,
  'draft-8': draft8,
}

/** A string of RFC 9651 holds printable ASCII only; what has more, or is very long, is encoded as it is in a store's keys. */
function structuredString(text: string): string {
  const plain = /^[\x20-\x7e]{1,64}$/.test(text) ? text : encodeText(text)
  return `"${plain.replace(/["\\]/g, '\\$&')}"`
}
