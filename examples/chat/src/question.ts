/** What is said of a body that is no question. */
export const questionHint = {
  detail: 'Send JSON such as {"question": "Who is next?"}, with 1 to 500 characters.',
} as const

/** The question in a request's body; undefined if there is none. To be checked before it takes a place in the line. */
export function readQuestion(body: unknown): string | undefined {
  const { question } = (body ?? {}) as { readonly question?: unknown }
  if (typeof question !== 'string' || question.trim() === '' || question.length > 500) return undefined
  return question.trim()
}
