import type { Response } from 'express'

/** Begins a stream of server-sent events. Behind a queue it may have begun already: this is right all the same. */
export function beginEvents(res: Response): void {
  res.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache, no-transform' })
}

/** Sends one event. JSON has no line ends, so no text can break out of its line. */
export function sendEvent(res: Response, event: string, data: unknown): void {
  res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
