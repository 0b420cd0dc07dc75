import { randomId } from '../base/randomId.js'
import type { JoinOptions } from '../store/contract.js'
import type {
  ConfigureReply,
  Exchanger,
  ExchangeReply,
  ExchangeRequest,
  RejoinRequest,
  Standing,
  StatusReply,
} from '../store/exchanger.js'
import type { SettingsChange, SettingsRecord } from '../store/settings.js'
import type { QueueKeys } from './keys.js'
import { readConfigure, readExchange, readRejoin, readStatus } from './replies.js'
import {
  configure,
  configureArguments,
  exchange,
  exchangeArguments,
  rejoin,
  rejoinArguments,
  status,
  statusArguments,
} from './scripts.generated.js'
import { writeChange, writeRecord } from './settingsJson.js'
import type { RedisLink } from './redisLink.js'
import type { Scripts } from './scripts.js'

/** How an instance gets to its queue's server. */
export interface Way {
  readonly scripts: Scripts
  readonly link: RedisLink
  /** How the names of wake channels begin. */
  readonly channelPrefix: string
}

/** One instance's way to its queue in Redis: plain data in, script calls out. */
export class RedisExchanger implements Exchanger {
  readonly instance: string
  readonly #scripts: Scripts
  readonly #link: RedisLink
  readonly #channelPrefix: string
  readonly #keys: QueueKeys
  readonly #options: JoinOptions
  readonly #onClose: () => void
  #declared: string
  #terms = { bootMs: -1, keepMs: -1, declared: '', text: '' }

  constructor(instance: string, way: Way, keys: QueueKeys, options: JoinOptions, onClose: () => void) {
    this.instance = instance
    this.#scripts = way.scripts
    this.#link = way.link
    this.#channelPrefix = way.channelPrefix
    this.#keys = keys
    this.#options = options
    this.#onClose = onClose
    const { declared } = options
    this.#declared = writeRecord(declared, { values: declared, operator: {}, version: 0, by: null })
  }

  get ready(): boolean {
    return this.#link.ready
  }

  know(record: SettingsRecord): void {
    this.#declared = writeRecord(this.#options.declared, record)
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeReply> {
    const { releases, cancels, leaves, acquires } = request
    const list = exchangeArguments(this.#keys, {
      instance: this.instance,
      batch: request.batch,
      standing: this.#writeStanding(request),
      flags: `${request.holds ? 'h' : ''}${request.declaring ? 's' : ''}${request.full ? 'f' : ''}${request.moves ? 'm' : ''}`,
      livenessMs: this.#options.livenessMs,
      terms: this.#writeTerms(request.keepMs),
      channel: this.#channelPrefix,
      releases: releases.length,
      cancels: cancels.length,
      operations:
        releases.length + cancels.length + leaves.length === 0
          ? acquires
          : [...releases, ...cancels, ...leaves, ...acquires],
    })
    return readExchange(await this.#scripts.run(exchange, list), request.epoch, this.#options.declared)
  }

  async rejoin(request: RejoinRequest): Promise<{ epoch: string }> {
    const list = rejoinArguments(this.#keys, {
      instance: this.instance,
      batch: request.batch,
      standing: this.#writeStanding(request),
      livenessMs: this.#options.livenessMs,
      terms: this.#writeTerms(request.keepMs),
      fence: request.fence,
      channel: this.#channelPrefix,
      complete: request.complete ? 1 : 0,
      known: request.known,
      lines: request.waiting.length,
      tickets: [...request.waiting, ...request.running.flatMap(({ member, leftMs }) => [leftMs, member])],
    })
    return readRejoin(await this.#scripts.run(rejoin, list))
  }

  async configure(change: SettingsChange, standing: Standing): Promise<ConfigureReply> {
    const list = configureArguments(this.#keys, {
      instance: this.instance,
      standing: this.#writeStanding(standing),
      livenessMs: this.#options.livenessMs,
      terms: this.#writeTerms(standing.keepMs),
      channel: this.#channelPrefix,
      changeId: randomId(),
      ifVersion: change.ifVersion === null ? '' : String(change.ifVersion),
      values: writeChange(change.values),
      by: change.by ?? '',
    })
    return readConfigure(await this.#scripts.run(configure, list), this.#options.declared)
  }

  async status(members: readonly string[]): Promise<StatusReply> {
    return readStatus(await this.#scripts.run(status, statusArguments(this.#keys, { members })), this.#options.declared)
  }

  close(): void {
    this.#onClose()
  }

  /** One text, because nearly always it is what the store has, and one comparison says so. */
  #writeStanding({ epoch, revision }: Standing): string {
    return `${epoch} ${this.#link.serverRun} ${revision}`
  }

  /** What the scripts rarely look at, in one argument; nearly always the one of before. */
  #writeTerms(keepMs: number): string {
    const bootMs = this.#link.bootLeftMs(this.#options.bootGraceMs)
    const last = this.#terms
    if (last.bootMs !== bootMs || last.keepMs !== keepMs || last.declared !== this.#declared) {
      const text = `{"bootMs":${bootMs},"keepMs":${keepMs},"declared":${this.#declared}}`
      this.#terms = { bootMs, keepMs, declared: this.#declared, text }
    }
    return this.#terms.text
  }
}
