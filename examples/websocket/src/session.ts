import { setTimeout as sleep } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'
import { closeBinary, closeOutOfTurn } from './closing.js'

/** A session with whatever there is too little of: it says everything back, word by word, one message at a time. */
export function serveSession(socket: WebSocket, wordMs: number, signal: AbortSignal): void {
  let answering = false
  const answer = async (question: string): Promise<void> => {
    answering = true
    for (const word of question.split(/\s+/)) {
      await send(socket, { state: 'answer', word })
      await sleep(wordMs, undefined, { signal })
    }
    answering = false
    await send(socket, { state: 'answered' })
  }
  socket.on('message', (data: RawData, isBinary) => {
    if (isBinary) closeBinary(socket)
    else if (answering) closeOutOfTurn(socket)
    else answer((data as Buffer).toString()).catch(() => socket.close()) // nobody listens any more
  })
}

/** Resolves when it is on its way: whoever does not read is not written to. @throws Error when the socket is not open any more */
async function send(socket: WebSocket, message: object): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()))
  })
}
