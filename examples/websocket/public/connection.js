/** The server's close codes that mean: come back later. */
const COME_BACK = new Set([1012, 1013])

/**
 * What a session hears: what the server says, and how the connection ended.
 * @typedef {{ state: 'waiting', position: number | null, etaMs: number | null } | { state: 'admitted' | 'answered' }
 *   | { state: 'answer', word: string } | { state: 'refused', code: string, detail: string, retryAfter: number }
 *   | { state: 'closed', code: number, reason: string }} News
 */

/**
 * A session with the server. Who is sent away for now comes back by itself, when the server said.
 * @param {(news: News) => void} tell
 */
export function connect(tell) {
  /** @type {WebSocket} */
  let socket
  let retryAfter = 5
  let left = false

  function open() {
    socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/session`)
    socket.addEventListener('message', ({ data }) => {
      /** @type {News} */
      const news = JSON.parse(data)
      if (news.state === 'refused') retryAfter = news.retryAfter
      tell(news)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (left) return
      // A random share on top, so that those who were sent away together do not return together.
      if (COME_BACK.has(code)) setTimeout(() => left || open(), retryAfter * 1000 * (1 + Math.random() / 4))
      else tell({ state: 'closed', code, reason })
    })
  }
  open()

  return {
    /** @param {string} text */
    say: (text) => socket.send(text),
    leave() {
      left = true
      socket.close()
    },
  }
}
