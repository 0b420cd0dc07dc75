import { fastifyStatic } from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { pageFiles, pageHeaders } from '@fairqueue/example-chat'

/** The page and its files. */
export const page: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(pageHeaders)
  })
  await app.register(fastifyStatic, { root: pageFiles.page })
  await app.register(fastifyStatic, { root: pageFiles.parser, prefix: '/eventsource-parser/', decorateReply: false })
}
