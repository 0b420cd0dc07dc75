import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createRequire } from 'node:module'
import compress from '@fastify/compress'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { createFairQueue, fairQueue, type FairQueueHook, type FairQueueHookOptions } from '@fairqueue/fastify'
import type { Adapter, Call, Init, Layer, Plan, Route } from '@fairqueue/core/testing/adapter'

const { version } = createRequire(import.meta.url)('fastify/package.json') as { version: string }

/** Fastify in the adapter suite. */
export const fastifyAdapter: Adapter = {
  name: 'Fastify 5',
  version,
  seesHandlerEnd: true,
  servesHttp2: true,
  compresses: true,
  gate: (options, defaults = {}) => {
    // A hook can stand in any application; this one only makes it.
    const maker = fastify()
    void createFairQueue({ global: false, ...(defaults as object) })(maker, {})
    return maker.fairQueue(options as never)
  },
  refusalHandler: (handler) =>
    ((request, reply, refusal, pass) =>
      handler(callOf(request, reply), refusal, pass)) satisfies FairQueueHookOptions['handler'],
  open: async (plan) => {
    let listener: RequestListener | undefined
    const make = plan.http2 ? (createHttp2Server as unknown as typeof createServer) : createServer
    const app = fastify({
      forceCloseConnections: true,
      serverFactory: (handler) => {
        listener = behind(plan.layers ?? [], handler)
        return make(listener)
      },
      // Then it reads no headers that HTTP/2 does not have.
      ...(plan.http2 && { http2: true as never }),
    })
    await build(app, plan)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { server: app.server, listener: listener!, close: () => app.close() }
  },
}

/** What Fastify hands its server, behind layers that see Node's own objects. */
function behind(layers: readonly Layer[], handler: RequestListener): RequestListener {
  return layers.reduceRight<RequestListener>(
    (inner, layer) => (req, res) => void layer(req, res, () => inner(req, res)),
    handler,
  )
}

async function build(app: FastifyInstance, { headers, showErrors, prefix = '', gate, routes }: Plan): Promise<void> {
  await app.register(fairQueue, { global: false })
  if (showErrors) app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(error.message))
  if (headers !== undefined) {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.headers(headers)
      done()
    })
  }
  await app.register(
    async (scope) => {
      if (gate !== undefined) scope.addHook('preHandler', gate as FairQueueHook)
      for (const route of routes) await scope.register(async (own) => mount(own, route))
    },
    { prefix },
  )
}

/** Each route in a context of its own, with what it wants of parsers and compression. */
async function mount(app: FastifyInstance, route: Route): Promise<void> {
  const { method = 'GET', path, gate, parsesBody, compressed, handler } = route
  if (!parsesBody) {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  }
  // It works when an answer is sent, wherever it has been registered.
  if (compressed !== undefined) await app.register(compress, { threshold: 0, customTypes: /./ })
  app.route({
    method: method === 'ALL' ? ['GET', 'POST', 'OPTIONS'] : method,
    url: path,
    preHandler: gate === undefined ? [] : [gate as FairQueueHook],
    handler: (request, reply) => handler(callOf(request, reply)),
  })
}

function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  const answer = (body: unknown, { status = 200, headers = {} }: Init = {}): unknown =>
    reply.code(status).headers(headers).send(body)
  return {
    request,
    req: request.raw,
    res: reply.raw,
    place: request.fairQueue ?? undefined,
    raw: () => {
      reply.hijack()
      reply.raw.statusCode = 200
      return reply.raw
    },
    text: answer,
    json: (value, init) => {
      reply.type('application/json; charset=utf-8')
      return answer(JSON.stringify(value), init)
    },
    stream: answer,
    body: async () => {
      let body = ''
      for await (const chunk of request.raw.setEncoding('utf8')) body += chunk as string
      return body
    },
  }
}
