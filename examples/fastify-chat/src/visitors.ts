import type { FastifyPluginAsync } from 'fastify'
import { Crowd, eventHeaders } from '@fairqueue/example-chat'

/** The crowd of the button *Ask twenty at once*. */
export const visitors: FastifyPluginAsync = async (app) => {
  const crowd = new Crowd()

  app.post('/visitors', (request, reply) => {
    const stream = crowd.visit(request.body, request.socket)
    return stream === null ? reply.code(400).send(Crowd.hint) : reply.headers(eventHeaders).send(stream)
  })

  app.delete<{ Params: { id: string } }>('/visitors/:id', (request, reply) => {
    crowd.leave(request.params.id)
    return reply.code(204).send()
  })
}
