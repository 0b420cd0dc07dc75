import express from 'express'
import { pageFiles, pageHeaders } from '@fairqueue/example-chat'

/** The page and its files. */
export const page: express.Router = express
  .Router()
  .use((_req, res, next) => {
    res.set(pageHeaders)
    next()
  })
  .use(express.static(pageFiles.page))
  .use('/eventsource-parser', express.static(pageFiles.parser))
