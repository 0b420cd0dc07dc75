/** The member `error` in which the clients of LLM interfaces look for what went wrong. */
export interface ErrorMember {
  /** In Anthropic's words, which those of the others do not contradict. */
  readonly type: string
  /** Any text or number, in OpenAI's words. */
  readonly code: string | number
  readonly message: string
}

/** Makes it for an answer with this status. */
export function errorMember(status: number, code: string | number, message: string): ErrorMember {
  return { type: typeOf(status), code, message }
}

function typeOf(status: number): string {
  switch (status) {
    case 400:
      return 'invalid_request_error'
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 413:
      return 'request_too_large'
    case 429:
      return 'rate_limit_error'
    case 503:
      return 'overloaded_error'
    default:
      return status < 500 ? 'invalid_request_error' : 'api_error'
  }
}
