/** The end of a handler's whole answer, by which its client knows that it is the answer to its own request. */
export function answerText(request: string, how: 'served' | 'interrupted'): string {
  return `data: ${how} ${request}\n\n`
}
