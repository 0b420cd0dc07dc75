/** Reads a `Retry-After` (RFC 9110, 10.2.3), seconds or a date, as milliseconds from now. Null: there is none that makes sense. */
export function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  if (!/^[A-Z][a-z]+,? /.test(text)) return null
  // By the sender's own clock, where it can be read: ours may be wrong.
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? new Date().toUTCString())
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}
