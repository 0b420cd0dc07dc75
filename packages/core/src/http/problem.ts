import { STATUS_CODES } from 'node:http'
import { errorMember, type ErrorMember } from './errorMember.js'
import { isOverLimit, policyNameOf, type Refusal } from './refusal.js'

/** A problem document (RFC 9457) with this library's members. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The seconds of the header `Retry-After`. */
  readonly retryAfter?: number
  /** Names of the limits that were hit. */
  readonly 'violated-policies'?: readonly string[]
  /** The same once more, for clients who show nothing else: OpenAI's, and the AI SDK's providers of that kind. */
  readonly error: ErrorMember
}

/** Of the registry "HTTP Problem Types" (draft-ietf-httpapi-ratelimit-headers): by the status that an error has by itself. */
const REGISTERED: Readonly<Record<number, { readonly type: string; readonly title: string }>> = {
  429: {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
  },
  503: {
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    title: 'Request cannot be satisfied due to temporary server capacity constraints',
  },
}

/** What a refused client reads. The type says what happened, also where `statusCode` changed the status. */
export function problemOf(refusal: Refusal): Problem {
  const { code, status, message, retryAfter, error } = refusal
  return {
    ...(REGISTERED[error.status] ?? { type: 'about:blank', title: STATUS_CODES[status] ?? 'Refused' }),
    status,
    detail: message,
    code,
    ...(retryAfter !== null && { retryAfter }),
    ...(isOverLimit(code) && { 'violated-policies': [policyNameOf(refusal)] }),
    error: errorMember(status, code, message),
  }
}
