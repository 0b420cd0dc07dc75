/** An error in the form of OpenAI's interface. */
export function openAiError(message: string, type: string, code: string | null = null): { readonly error: object } {
  return { error: { message, type, param: null, code } }
}
