export { fetchInTurn } from './fetchInTurn.js'
export { RefusedError } from './refusal.js'
export type { FetchInTurnInit, ResumeOptions, RetryOptions } from './options.js'
export type { QueueNews } from './queueNews.js'
