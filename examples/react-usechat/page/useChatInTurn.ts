import { useState } from 'react'
import { useChat, type UseChatHelpers } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { fetchInTurn, type QueueNews } from '@fairqueue/client'

/** What `useChat` gives, and where the question stands while it waits; null while none does. */
export type ChatInTurn = UseChatHelpers<UIMessage> & { readonly place: QueueNews | null }

/** `useChat` over a route behind a Fairqueue. */
export function useChatInTurn(api: string): ChatInTurn {
  const [place, setPlace] = useState<QueueNews | null>(null)
  const [transport] = useState(
    () =>
      new DefaultChatTransport({
        api,
        fetch(url, init) {
          setPlace(null)
          return fetchInTurn(url, { ...init, onQueue: setPlace })
        },
      }),
  )
  const chat = useChat({ transport })
  return { ...chat, place: chat.status === 'submitted' && place?.state !== 'admitted' ? place : null }
}
