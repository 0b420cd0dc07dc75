import { FairQueue } from './index.js'
import { Gate } from './http/gate.js'
import type { GateOptions } from './http/options.js'

/**
 * What a framework's adapter is made of. Makes the gate that its middleware hands requests to; without a `queue` among the options the
 * gate makes one of its own.
 * @throws OptionError naming the option and what it got
 */
export function openGate<Request>(options: GateOptions<Request>): Gate<Request> {
  return new Gate(options, (queueOptions) => new FairQueue(queueOptions))
}

export { optionError, readBoolean, readDurationMs, readWord } from './base/options.js'
export { answerBody, answerHeaders, sendAnswer } from './http/answer.js'
export { clientAddress } from './http/clientAddress.js'
export { continueOnRead } from './http/continueOnRead.js'
export { withDefaults } from './http/defaults.js'
export { queueOnlyNames } from './http/resolvedOptions.js'
export type { Gate } from './http/gate.js'
export type { Visit } from './http/visit.js'
export type { Admitted, FairQueueContext } from './http/context.js'
export type { AddressedRequest, ClientAddressOptions } from './http/clientAddress.js'
export type { Answer, Message } from './http/answer.js'
export type { GateOptions, HttpOptions, Key } from './http/options.js'
export type { Refusal, RefusalCode, StatusOverride } from './http/refusal.js'
export type { FairQueueCore } from './queue/fairQueue.js'
