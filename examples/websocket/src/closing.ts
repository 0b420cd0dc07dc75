import type { WebSocket } from 'ws'
import { isFairQueueError, LeaseLostError } from '@fairqueue/core'

// Close codes: RFC 6455, 7.4.1, and the registry of the IANA.
const UNSUPPORTED_DATA = 1003
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011
const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013

/** Said where nothing is known, e.g. in a line that has not moved yet. */
const UNKNOWN_MS = 5000

/** How long the other end may take to close. */
const CLOSING_MS = 2000

/** Whoever does not answer a close must not keep the connection, nor the place. */
export function endSoon(socket: WebSocket): void {
  setTimeout(() => socket.terminate(), CLOSING_MS).unref()
}

function close(socket: WebSocket, code: number, reason?: string): void {
  socket.close(code, reason)
  endSoon(socket)
}

/**
 * Says why a socket has no place, or has it no longer, and when to come back, then closes it. A browser shows a page neither the status nor
 * the headers of a connection that was refused over HTTP: that is why the server accepts first, and then says so.
 */
export function refuse(socket: WebSocket, error: unknown): void {
  if (!isFairQueueError(error)) {
    console.error(error)
    close(socket, INTERNAL_ERROR)
    return
  }
  const { code, message, retryAfterMs } = error
  const retryAfter = Math.max(1, Math.ceil((retryAfterMs ?? UNKNOWN_MS) / 1000))
  const closing = code === 'FQ_DRAINING' || (error instanceof LeaseLostError && error.lostBy === 'closed')
  socket.send(JSON.stringify({ state: 'refused', code, detail: message, retryAfter }))
  close(socket, closing ? SERVICE_RESTART : TRY_AGAIN_LATER, `${code}, Retry-After: ${retryAfter}`)
}

/** Who waits has nothing to say, and who talks waits for the answer: so nothing that a client sends piles up here. */
export function closeOutOfTurn(socket: WebSocket): void {
  close(socket, POLICY_VIOLATION, 'Out of turn')
}

export function closeForeign(socket: WebSocket): void {
  close(socket, POLICY_VIOLATION, 'A page of another origin')
}

export function closeBinary(socket: WebSocket): void {
  close(socket, UNSUPPORTED_DATA, 'Send text')
}
