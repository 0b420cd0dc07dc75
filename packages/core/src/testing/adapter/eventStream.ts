/** An event of a stream, as its bytes say it; a field that is not there is undefined. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string
}

/** Reads a stream that has ended: its events, as the standard has clients dispatch them, and its comments. */
export function readEventStream(body: string): { readonly events: StreamEvent[]; readonly comments: string[] } {
  const events: StreamEvent[] = []
  const comments: string[] = []
  // What is not closed by an empty line is no event.
  for (const block of body.split('\n\n').slice(0, -1)) {
    const fields = new Map<string, string[]>()
    for (const line of block.split('\n')) {
      const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!
      if (line.startsWith(':')) comments.push(value!)
      else if (line !== '') fields.set(name!, [...(fields.get(name!) ?? []), value!])
    }
    const data = fields.get('data')
    if (data !== undefined) {
      events.push({ id: fields.get('id')?.at(-1), event: fields.get('event')?.at(-1), data: data.join('\n') })
    }
  }
  return { events, comments }
}
