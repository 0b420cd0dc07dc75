const EVENT_STREAM = 'text/event-stream'

/** A header longer than this is not a client's honest list of types. */
const LONGEST_HEADER = 1000

/** One element of a list, with commas allowed inside quoted strings (RFC 9110, 5.6.1 and 5.6.4). */
const ELEMENT = /(?:[^,"]|"(?:\\.|[^"\\])*")+/g

/** Nothing that counts here may stand in a quoted string. */
const QUOTED = /"(?:\\.|[^"\\])*"/g

/** `weight` of RFC 9110, 12.4.2: 0 to 1 with at most three decimals. */
const WEIGHT = /;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*(?:;|$)/i

/**
 * Whether a client asked for server-sent events: `text/event-stream` is listed by name with q > 0, and no other type that is listed by
 * name has a q at least as high. A missing header, wildcards, and `application/json, text/event-stream` (MCP clients, who cannot read a
 * stream that ends in another type) are no such wish; a framework's `req.accepts()` says yes to them all.
 */
export function asksForEventStream(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > LONGEST_HEADER || !/text\/event-stream/i.test(accept)) return false
  let wanted = 0
  let bestOther = 0
  for (const [text] of accept.matchAll(ELEMENT)) {
    const element = text.replace(QUOTED, '""')
    const type = element.split(';', 1)[0]!.trim().toLowerCase()
    const q = weight(element)
    if (type === EVENT_STREAM) wanted = Math.max(wanted, q)
    else if (!type.includes('*')) bestOther = Math.max(bestOther, q)
  }
  return wanted > bestOther
}

/** No weight means 1, a malformed one is worth nothing. */
function weight(element: string): number {
  const match = WEIGHT.exec(element)
  if (match !== null) return Number(match[1])
  return /;[ \t]*q[ \t]*=/i.test(element) ? 0 : 1
}
