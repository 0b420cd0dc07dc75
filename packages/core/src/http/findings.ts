import { processLogger, type Logger, type WarningCode } from '../base/logger.js'
import { show } from '../base/options.js'
import type { FairQueueCore } from '../queue/fairQueue.js'

/** Queues that a finding was told of: once each, however many gates lead there. */
const reachedTwice = new WeakSet<FairQueueCore>()
const waitedForWithPlaces = new WeakSet<FairQueueCore>()

/** What a gate warns of: mistakes in how it is used, which no request should fail for. Never throws. */
export class Findings {
  readonly #logger: Logger | undefined
  readonly #queue: FairQueueCore | null
  #lostHeadersTold = false
  #bodyFlowsTold = false

  /** Without a logger the queue's counts. */
  constructor(logger: Logger | undefined, queue: FairQueueCore | null) {
    this.#logger = logger
    this.#queue = queue
  }

  lostHeaders(names: readonly string[]): void {
    if (this.#lostHeadersTold) return
    this.#lostHeadersTold = true
    this.#warn(
      this.#queue,
      'FQ_LOST_HEADERS',
      `A handler set headers after its response had begun with the wait's own head; they were not sent: ${names.join(', ')}. Set them before the queue, or use sse: 'never'.`,
    )
  }

  /** A request came to a queue in which it has a place already. */
  secondWay(queue: FairQueueCore): void {
    if (reachedTwice.has(queue)) return
    reachedTwice.add(queue)
    this.#warn(
      queue,
      'FQ_REACHED_TWICE',
      `A request came to queue ${show(queue.name)} twice, by two middlewares on its way, and is counted once. Mount it once per route.`,
    )
  }

  /** A wait timed out that a request began with places in other queues. */
  heldWhileWaiting(queue: FairQueueCore, held: readonly string[]): void {
    if (held.length === 0 || waitedForWithPlaces.has(queue)) return
    waitedForWithPlaces.add(queue)
    const others = held.map((name) => `queue ${show(name)}`).join(' and ')
    this.#warn(
      queue,
      'FQ_HELD_WHILE_WAITING',
      `A request waited in vain for queue ${show(queue.name)} while it held a place in ${others}. Where another route takes them the other way round, both wait for each other until their time is up: take them in the same order everywhere.`,
    )
  }

  /** A request waits while somebody before the gate reads its body. */
  bodyFlows(queue: FairQueueCore): void {
    if (this.#bodyFlowsTold) return
    this.#bodyFlowsTold = true
    this.#warn(
      queue,
      'FQ_BODY_FLOWS',
      `A request waits for queue ${show(queue.name)} while something before it reads its body, and the handler will not get what is read meanwhile. Mount the queue before whatever reads, or after it has read all.`,
    )
  }

  /** What the gate has let in threw where nobody could catch it. */
  behindThrew(cause: unknown): void {
    this.#warn(this.#queue, 'FQ_TROUBLE', 'What lies behind the gate threw.', cause)
  }

  #warn(queue: FairQueueCore | null, code: WarningCode, message: string, cause?: unknown): void {
    const logger = this.#logger ?? queue?.options.logger ?? processLogger
    try {
      logger.warn(message, cause === undefined ? { code } : { code, cause })
    } catch {
      // A logger that throws has nowhere left to be reported to.
    }
  }
}
