import { Router } from '@koa/router'
import { Crowd, eventHeaders } from '@fairqueue/example-chat'

/** The crowd of the button *Ask twenty at once*. */
export const visitors: Router = new Router()

const crowd = new Crowd()

visitors.post('/visitors', (ctx) => {
  const stream = crowd.visit(ctx.request.body, ctx.req.socket)
  if (stream === null) {
    ctx.status = 400
    ctx.body = Crowd.hint
    return
  }
  ctx.set(eventHeaders)
  ctx.body = stream
})

visitors.delete('/visitors/:id', (ctx) => {
  crowd.leave(ctx.params['id']!)
  ctx.status = 204
})
