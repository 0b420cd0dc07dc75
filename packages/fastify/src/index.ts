// The default is for `app.register(import('@fairqueue/fastify'))`.
export { createFairQueue, fairQueue, fairQueue as default } from './plugin.js'
export type { FairQueueDecorator, FairQueuePlugin } from './plugin.js'
export type { FairQueueHook } from './hook.js'
export type {
  ChosenQueueOptions,
  FairQueueHookName,
  FairQueueHookOptions,
  FairQueuePluginOptions,
  FairQueueRouteOptions,
  OwnQueueOptions,
  SharedQueueOptions,
} from './options.js'
export { clientAddress, continueOnRead } from '@fairqueue/core/http'
export type { ClientAddressOptions, FairQueueContext, Refusal } from '@fairqueue/core/http'
