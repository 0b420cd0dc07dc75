import type { Middleware } from 'koa'
import mount from 'koa-mount'
import serve from 'koa-static'
import { pageFiles, pageHeaders } from '@fairqueue/example-chat'

/** The page and its files. */
export const page: readonly Middleware[] = [
  (ctx, next) => {
    ctx.set(pageHeaders)
    return next()
  },
  serve(pageFiles.page),
  mount('/eventsource-parser', serve(pageFiles.parser)),
]
