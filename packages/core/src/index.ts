import type { Store } from './store/contract.js'
import { MemoryStore } from './memory/memoryStore.js'
import { FairQueueCore } from './queue/fairQueue.js'
import type { FairQueueOptions } from './queue/options.js'

const PROCESS_STORE = Symbol.for('fairqueue.processStore.1')

/** One per process, also where this package is loaded twice (ESM and CommonJS): the same name is the same line, as on Redis. */
function processStore(): Store {
  const holder = globalThis as { [PROCESS_STORE]?: Store }
  holder[PROCESS_STORE] ??= new MemoryStore()
  return holder[PROCESS_STORE]
}

/**
 * A fair waiting line in front of a limit on concurrent work. Without a `store` it lives in this process.
 * @example
 * const queue = new FairQueue({ name: 'chat', concurrency: 8 })
 * const answer = await queue.run(() => ask(question), { key: userId })
 */
export class FairQueue extends FairQueueCore {
  /** @throws OptionError naming the option and what it got */
  constructor(options: FairQueueOptions) {
    super(options, processStore())
  }
}

export { MemoryStore } from './memory/memoryStore.js'
export type { FairQueueOptions } from './queue/options.js'
export type { CloseOptions, ConfigureOptions, EnterOptions, ResumeOptions, SettingsInput } from './queue/fairQueue.js'
export type { QueueEvents, TicketEvent } from './queue/events.js'
export type { QueueStatus } from './queue/status.js'
export type { KeepTerms, Ticket, TicketStatus } from './queue/ticket.js'
export type { Lease, ReleaseResult } from './queue/lease.js'
export type { TicketState } from './ticket/states.js'
export type { Clock, Timer } from './base/clock.js'
export type { Duration } from './base/duration.js'
export type { Logger, WarningCode } from './base/logger.js'
export {
  CancelledError,
  ConflictError,
  DrainingError,
  FairQueueError,
  isFairQueueError,
  KeyLimitError,
  LeaseLostError,
  OptionError,
  PermitsError,
  PlaceLostError,
  QueueFullError,
  StoreUnavailableError,
  WaitTimeoutError,
} from './base/errors.js'
export type { ErrorCode, ErrorDetails, LeaseLostCause } from './base/errors.js'
export type {
  FoundPlace,
  Grant,
  Instance,
  InstanceListener,
  JoinOptions,
  Place,
  RefusalReason,
  Store,
  StoreStatus,
} from './store/contract.js'
export type { KeyCaps } from './store/keyCaps.js'
export type { Settings, SettingsChange, SettingsRecord } from './store/settings.js'
