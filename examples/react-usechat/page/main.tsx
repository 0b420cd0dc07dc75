import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './Chat.js'

createRoot(document.getElementById('chat')!).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
)
