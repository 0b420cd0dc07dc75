// What a handler sends that answers "Hello", in the interface that a path stands for.

/** What every client has to end up with. */
export const ANSWER = 'Hello'
const PIECES = ['Hel', 'lo']

/** The events of the answer, in the order in which they are written. */
export function eventsOf(path: string): readonly string[] {
  const answer = answers.find(({ paths }) => paths.test(path))
  if (answer === undefined) throw new Error(`No answer for ${path}`)
  return answer.events
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`

const chatChunk = (delta: object, finish_reason: string | null = null): string =>
  data({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })

const response = (status: string, output: object[]): object => ({
  ...{ id: 'r1', object: 'response', created_at: 1, model: 'm', status, output, tools: [], error: null },
})
const part = (text: string): object => ({ type: 'output_text', text, annotations: [] })
const message = (status: string, content: object[]): object => ({
  ...{ id: 'm1', type: 'message', role: 'assistant', status, content },
})
const inOutput = { item_id: 'm1', output_index: 0, content_index: 0 }

const answers: readonly { readonly paths: RegExp; readonly events: readonly string[] }[] = [
  {
    // Events with names of the application's own.
    paths: /^\/events$/,
    events: [...PIECES.map((text) => data({ text })), 'event: end\ndata: {}\n\n'],
  },
  {
    // OpenAI's, and of all who speak its language.
    paths: /\/chat\/completions$/,
    events: [
      chatChunk({ role: 'assistant', content: '' }),
      ...PIECES.map((content) => chatChunk({ content })),
      chatChunk({}, 'stop'),
      'data: [DONE]\n\n',
    ],
  },
  {
    paths: /\/responses$/,
    events: [
      { type: 'response.created', response: response('in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: message('in_progress', []) },
      { type: 'response.content_part.added', ...inOutput, part: part('') },
      ...PIECES.map((delta) => ({ type: 'response.output_text.delta', ...inOutput, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...inOutput, text: ANSWER, logprobs: [] },
      { type: 'response.content_part.done', ...inOutput, part: part(ANSWER) },
      { type: 'response.output_item.done', output_index: 0, item: message('completed', [part(ANSWER)]) },
      { type: 'response.completed', response: response('completed', [message('completed', [part(ANSWER)])]) },
    ].map((event, sequence_number) => named(Object.assign(event, { sequence_number }))),
  },
  {
    // Anthropic's.
    paths: /\/messages$/,
    events: [
      {
        type: 'message_start',
        message: {
          ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [] },
          ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...PIECES.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ].map(named),
  },
  {
    // Google's.
    paths: /:streamGenerateContent$/,
    events: PIECES.map((text, index) =>
      data({
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text }] }, ...(index > 0 && { finishReason: 'STOP' }) },
        ],
      }),
    ),
  },
  {
    // The AI SDK's, for `useChat`.
    paths: /^\/api\/chat$/,
    events: [
      data({ type: 'start' }),
      data({ type: 'text-start', id: '1' }),
      ...PIECES.map((delta) => data({ type: 'text-delta', id: '1', delta })),
      data({ type: 'text-end', id: '1' }),
      data({ type: 'finish' }),
      'data: [DONE]\n\n',
    ],
  },
]
