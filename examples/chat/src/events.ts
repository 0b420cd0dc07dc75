/** The head of a stream of server-sent events. Behind a queue it may have been sent already: to set it is right all the same. */
export const eventHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
} as const

/** One event. JSON has no line ends, so no text can break out of its line. */
export function formatEvent(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
