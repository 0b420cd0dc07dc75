import {
  readBoolean,
  readDurationMs,
  readWord,
  optionError,
  withDefaults,
  type FairQueueContext,
} from '@fairqueue/core/http'
import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'
import { fastifyPlugin } from 'fastify-plugin'
import { latestVisit } from './fastifyVisit.js'
import { Gates } from './gates.js'
import { hasHook, watched, type FairQueueHook } from './hook.js'
import {
  hookNames,
  type ChosenQueueOptions,
  type FairQueueHookName,
  type FairQueuePluginOptions,
  type FairQueueRouteOptions,
  type OwnQueueOptions,
  type SharedQueueOptions,
} from './options.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Makes a hook that lets requests through in their turn; with no options, that of the plugin's own line. */
    fairQueue: FairQueueDecorator
  }
  interface FastifyRequest {
    /** This request's place, behind a `fairQueue` hook; null on routes without one. */
    fairQueue: FairQueueContext
  }
  interface FastifyContextConfig {
    /** The line that this route's requests wait in; false: none. */
    fairQueue?: FairQueueRouteOptions | false
  }
}

/** `app.fairQueue()`. */
export interface FairQueueDecorator {
  /** @throws OptionError naming the option and what it got */
  (options?: OwnQueueOptions | SharedQueueOptions): FairQueueHook
  (options: ChosenQueueOptions): FairQueueHook<null>
}

/** A plugin for `app.register()`. */
export type FairQueuePlugin = FastifyPluginAsync<FairQueuePluginOptions>

/** A `fairQueue` plugin with defaults, e.g. one store and one `keyGenerator` for several contexts. Options given at registration win. */
export function createFairQueue(defaults: FairQueuePluginOptions): FairQueuePlugin {
  // What it throws must come as a rejection.
  const plugin: FairQueuePlugin = async (app, options) => govern(app, withDefaults(defaults, options))
  return fastifyPlugin(plugin, { fastify: '5.x', name: '@fairqueue/fastify' })
}

/**
 * Puts a fair waiting line and a limit on concurrent work in front of the routes of a context. Routes that are declared before it has been
 * loaded are not seen: `await` the registration.
 * @example
 * await app.register(fairQueue, { global: false })
 * app.post('/chat', { config: { fairQueue: { concurrency: 8 } } }, answer)
 */
export const fairQueue: FairQueuePlugin = createFairQueue({})

function govern(app: FastifyInstance, options: FairQueuePluginOptions): void {
  const { global = true, closeGraceMs, hook: usualHook = 'preHandler', ...hookOptions } = options
  readBoolean('global', global)
  readHookName(usualHook)
  if (closeGraceMs !== undefined) readDurationMs('closeGraceMs', closeGraceMs)
  const gates = new Gates(hookOptions, closeGraceMs === undefined ? {} : { graceMs: closeGraceMs })
  if (global) gates.common()

  const decorator = ((asked) => (asked === undefined ? gates.common() : gates.open(asked))) as FairQueueDecorator
  app.decorate('fairQueue', decorator)
  if (!app.hasRequestDecorator('fairQueue')) {
    app.decorateRequest('fairQueue', null as never)
    app.decorateRequest(latestVisit, null)
  }

  app.addHook('onRoute', function (route) {
    // Of several registrations the nearest governs a route: a context's own has taken the name there.
    if (this.fairQueue !== decorator) return
    const asked = readAsked(route.config?.fairQueue)
    if (typeof asked === 'object') append(route, readHookName(asked.hook ?? usualHook), gates.ofRoute(route, asked))
    else if (asked === undefined && global && !hasHook(route)) append(route, usualHook, gates.common())
    // Whether one of our hooks stands in front of it is not known yet: a context may bring one.
    route.handler = watched(route.handler)
  })
  closeWith(app, gates)
}

/** All that was opened on a server: Fastify closes its contexts one after another, but nobody in a line is to wait for that. */
const opened = new WeakMap<object, Gates[]>()

/**
 * Before the server closes, those who wait get their answer and those who run may finish: what Fastify then does with connections
 * (`forceCloseConnections`) cuts nobody off, and finds those idle that clients keep for later.
 */
function closeWith(app: FastifyInstance, gates: Gates): void {
  const all = opened.get(app.server) ?? []
  opened.set(app.server, all)
  all.push(gates)
  app.addHook('preClose', async () => {
    await Promise.all(all.map((each) => each.close()))
  })
  // Where the server never came to listen.
  app.addHook('onClose', () => gates.close())
}

function readHookName(name: unknown): FairQueueHookName {
  return readWord('hook', name, hookNames)
}

function readAsked(asked: unknown): FairQueueRouteOptions | false | undefined {
  if (asked === undefined || asked === false) return asked
  if (typeof asked === 'object' && asked !== null) return asked
  throw optionError('config.fairQueue', 'an object with options, or false', asked)
}

/** Last of the route's own: the queue comes after whoever finds out who it is that asks. */
function append(route: RouteOptions, name: FairQueueHookName, hook: FairQueueHook): void {
  Object.assign(route, { [name]: [route[name] ?? [], hook].flat() })
}
