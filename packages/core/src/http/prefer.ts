/** Whether a `Prefer` header (RFC 7240) asks for an answer at once, with the outcome to be fetched later. */
export function prefersAsync(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  return /(^|,)\s*respond-async\s*(;|,|$)/i.test([header].flat().join(','))
}
