/** What servers write while a request waits, in each form, as bytes would show it. */
export interface Wire {
  readonly form: string
  readonly waiting: (position: number | null, ticket?: string) => string
  readonly admitted: string
  readonly heartbeat: string
}

const inner = (state: string, position: number | null, ticket: string): object => ({
  state,
  position,
  etaMs: position === null ? null : position * 1000,
  ticket,
})

const universal = (data: object): string =>
  JSON.stringify({
    type: 'data-queue',
    id: 'queue',
    transient: true,
    data,
    object: 'chat.completion.chunk',
    created: 0,
    model: 'queue',
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  })

const event = (id: string, data: string): string => `${id}event: queue\ndata: ${data}\n\n`

export const universalPost: Wire = {
  form: 'universal',
  waiting: (position, ticket = 't1') => event('', universal(inner('waiting', position, ticket))),
  admitted: event('', universal(inner('admitted', 0, 't1'))),
  heartbeat: ':\n',
}

export const wires: readonly Wire[] = [
  universalPost,
  {
    form: 'universal with ids',
    waiting: (position, ticket = 't1') => event(`id: q:${ticket}\n`, universal(inner('waiting', position, ticket))),
    admitted: event('id:\n', universal(inner('admitted', 0, 't1'))),
    heartbeat: ':\n',
  },
  {
    form: 'plain',
    waiting: (position, ticket = 't1') => event('', JSON.stringify(inner('waiting', position, ticket))),
    admitted: event('', JSON.stringify(inner('admitted', 0, 't1'))),
    heartbeat: ':\n',
  },
  {
    form: 'comment',
    waiting: (position, ticket = 't1') => `: queue ${JSON.stringify(inner('waiting', position, ticket))}\n\n`,
    admitted: `: queue ${JSON.stringify(inner('admitted', 0, 't1'))}\n\n`,
    heartbeat: ':\n\n',
  },
]

/** The last event of a stream whose answer is none: an error, or with a status below 300 a response. */
export function finalEvent(status: number, rest: object): string {
  const errorText = 'No.'
  const data =
    status < 300
      ? { status, headers: {}, ...rest }
      : { type: 'error', errorText, status, error: { type: 'api_error', code: status, message: errorText }, ...rest }
  return `id: q:end\nevent: ${status < 300 ? 'response' : 'error'}\ndata: ${JSON.stringify(data)}\n\n`
}

/** What the body of a refusal says. */
export const refusalBody = (code: string, retryAfter?: number): object => ({
  type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
  title: 'Request cannot be satisfied due to temporary server capacity constraints',
  status: 503,
  detail: 'The line is full.',
  code,
  ...(retryAfter !== undefined && { retryAfter }),
})
