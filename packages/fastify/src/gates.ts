import { isDeepStrictEqual } from 'node:util'
import { OptionError, type CloseOptions, type FairQueue } from '@fairqueue/core'
import { openGate, optionError, queueOnlyNames, withDefaults, type Gate } from '@fairqueue/core/http'
import type { FastifyRequest, RouteOptions } from 'fastify'
import { hookOf, type FairQueueHook } from './hook.js'
import type { FairQueueHookOptions, FairQueueRouteOptions } from './options.js'

/** The line that a name stands for. */
interface NamedLine {
  readonly queue: FairQueue
  readonly options: FairQueueHookOptions
}

/** What one registration of the plugin has opened. The same name is the same queue; without a name and a queue, a line of its own. */
export class Gates {
  readonly #common: FairQueueHookOptions
  readonly #defaults: FairQueueHookOptions
  readonly #closing: CloseOptions
  readonly #opened: Gate<FastifyRequest>[] = []
  readonly #named = new Map<string, NamedLine>()
  #commonHook: FairQueueHook | undefined
  #latest: { readonly path: string; readonly asked: FairQueueRouteOptions; readonly hook: FairQueueHook } | undefined

  constructor(options: FairQueueHookOptions, closing: CloseOptions) {
    this.#common = options
    this.#closing = closing
    const { name: _name, queue: _queue, ...defaults } = options
    this.#defaults = defaults
  }

  /** The hook in front of the plugin's own line. @throws OptionError */
  common(): FairQueueHook {
    return (this.#commonHook ??= this.#open(this.#common, this.#common))
  }

  /** Another hook. @throws OptionError */
  open(options: FairQueueHookOptions): FairQueueHook {
    return this.#open(options, withDefaults(this.#defaults, options))
  }

  /** The hook of a route that asks for one. The route that Fastify adds for `HEAD` shares it. @throws OptionError */
  ofRoute(route: RouteOptions, asked: FairQueueRouteOptions): FairQueueHook {
    const path = route.url.replace(/\/$/, '')
    const latest = this.#latest
    if (route.method === 'HEAD' && latest?.asked === asked && latest.path === path) return latest.hook
    const { hook: _hook, ...options } = asked
    const { name, queue, store = this.#defaults.store } = options
    const needsName = store !== undefined && name === undefined && queue === undefined
    const hook = this.open(needsName ? { ...options, name: nameOf(route) } : options)
    this.#latest = { path, asked, hook }
    return hook
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((gate) => gate.close(this.#closing)))
  }

  /** `given`: what was said here, as against what is so by default. */
  #open(given: FairQueueHookOptions, options: FairQueueHookOptions): FairQueueHook {
    const { errorResponseBuilder: _builder, ...gateOptions } = options
    checkOwnAnswers(options)
    const { name } = options
    const line = name === undefined ? undefined : this.#named.get(name)
    if (line !== undefined) refuseChanges(given, line)
    const gate = openGate(line === undefined ? gateOptions : withDefaults(gateOptions, { queue: line.queue }))
    this.#opened.push(gate)
    if (line === undefined && name !== undefined) this.#named.set(name, { queue: gate.queue as FairQueue, options })
    return hookOf(gate, options)
  }
}

/** Text that is the same in every process, for the line of a route that has no name. */
function nameOf({ method, url, constraints = {} }: RouteOptions): string {
  const conditions = Object.entries(constraints).map(([name, value]) => ` ${name}=${String(value)}`)
  return `${[method].flat().join()} ${url}${conditions.join('')}`
}

function checkOwnAnswers({ errorResponseBuilder, handler }: FairQueueHookOptions): void {
  if (errorResponseBuilder === undefined) return
  if (typeof errorResponseBuilder !== 'function')
    throw optionError('errorResponseBuilder', 'a function', errorResponseBuilder)
  if (handler !== undefined)
    throw new OptionError('errorResponseBuilder', 'Options "errorResponseBuilder" and "handler" exclude each other.')
}

/** A queue is made once, by whoever names it first. */
function refuseChanges(given: FairQueueHookOptions, { queue, options }: NamedLine): void {
  for (const option of queueOnlyNames as readonly (keyof FairQueueHookOptions)[]) {
    if (given[option] === undefined || isDeepStrictEqual(given[option], options[option])) continue
    throw new OptionError(
      option,
      `Option "${option}" of queue ${JSON.stringify(queue.name)} was decided where that name was used first: use the same value here, or none.`,
    )
  }
}
