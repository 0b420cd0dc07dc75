import { useState, type FormEvent, type ReactElement } from 'react'
import { RefusedError, type QueueNews } from '@fairqueue/client'
import { useChatInTurn } from './useChatInTurn.js'

/** The whole chat. */
export function Chat(): ReactElement {
  const { messages, sendMessage, stop, status, error, place } = useChatInTurn('/api/chat')
  const [question, setQuestion] = useState('')
  const busy = status === 'submitted' || status === 'streaming'

  const ask = (event: FormEvent): void => {
    event.preventDefault()
    void sendMessage({ text: question })
    setQuestion('')
  }

  return (
    <>
      <h1>useChat in a line</h1>
      {messages.map(({ id, role, parts }) => (
        <article key={id} className={role}>
          {parts.map((part) => (part.type === 'text' ? part.text : ''))}
        </article>
      ))}
      <p role="status">{error ? describeError(error) : place ? describePlace(place) : busy ? 'Answering …' : ''}</p>
      <form onSubmit={ask}>
        <input
          aria-label="Question"
          value={question}
          onChange={(event) => setQuestion(event.target.value)}
          disabled={busy}
          required
        />
        {busy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button>Ask</button>
        )}
      </form>
    </>
  )
}

function describePlace({ state, position, etaMs }: QueueNews): string {
  const time = etaMs === null ? '' : `, about ${Math.ceil(etaMs / 1000)} s`
  if (state === 'refused') return `Too many are waiting. Trying again${time.replace(',', ' in')}`
  return position === null
    ? `In line${time}`
    : position === 1
      ? `Next in line${time}`
      : `Place ${position} in line${time}`
}

function describeError(error: Error): string {
  return error instanceof RefusedError ? 'Too many are waiting. Please try again later.' : 'The answer broke off.'
}
