import type { WebSocket } from 'ws'
import type { FairQueue, TicketStatus } from '@fairqueue/core'
import { closeOutOfTurn, refuse } from './closing.js'

/** What the server says to a socket that waits, or has been let in. */
type Place = Pick<TicketStatus, 'position' | 'etaMs'> & { readonly state: 'waiting' | 'admitted' }

/**
 * Takes a place when a socket has connected, tells it where it stands, serves it when its turn comes, and gives the place back when it closes.
 * `signal` aborts when the socket has closed or its lease was lost. Never rejects.
 */
export async function serveInTurn(
  socket: WebSocket,
  queue: FairQueue,
  serve: (socket: WebSocket, signal: AbortSignal) => void,
): Promise<void> {
  const gone = new AbortController()
  const closed = new Promise<void>((resolve) => socket.once('close', resolve))
  void closed.then(() => gone.abort())
  const tell = placeTeller(socket)
  const outOfTurn = (): void => closeOutOfTurn(socket)
  socket.on('message', outOfTurn)
  try {
    await queue.run(
      async ({ signal }) => {
        if (gone.signal.aborted) return
        // The session lasts until somebody closes the socket; whose lease is lost must make room, for others run in its place.
        signal.addEventListener('abort', () => refuse(socket, signal.reason))
        socket.off('message', outOfTurn)
        serve(socket, AbortSignal.any([gone.signal, signal]))
        tell({ state: 'admitted', position: 0, etaMs: 0 })
        await closed
      },
      {
        signal: gone.signal, // who leaves while waiting loses the place at once
        onStatus: ({ state, position, etaMs }) => {
          if (state === 'waiting') tell({ state, position, etaMs })
        },
      },
    )
  } catch (error) {
    refuse(socket, error)
  }
}

/** Tells one place at a time: for a socket that does not read, only the newest is kept. */
function placeTeller(socket: WebSocket): (place: Place) => void {
  let sending = false
  let newest: Place | null = null
  return function tell(place) {
    if (sending) {
      newest = place
      return
    }
    sending = true
    socket.send(JSON.stringify(place), () => {
      sending = false
      const next = newest
      newest = null
      if (next !== null) tell(next)
    })
  }
}
