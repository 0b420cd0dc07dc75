export { createFairQueue, fairQueue } from './fairQueue.js'
export type { FairQueueFactory, FairQueueMiddleware } from './fairQueue.js'
export type { ChosenQueueOptions, FairQueueMiddlewareOptions, OwnQueueOptions, SharedQueueOptions } from './options.js'
export type { FairQueueContext, Refusal } from '@fairqueue/core/http'
