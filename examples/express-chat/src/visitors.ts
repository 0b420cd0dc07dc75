import { pipeline } from 'node:stream'
import express from 'express'
import { Crowd, eventHeaders } from '@fairqueue/example-chat'

/** The crowd of the button *Ask twenty at once*. */
export const visitors: express.Router = express.Router()

const crowd = new Crowd()

visitors.post('/visitors', express.json(), (req, res) => {
  const stream = crowd.visit(req.body, req.socket)
  if (stream === null) res.status(400).json(Crowd.hint)
  else pipeline(stream, res.set(eventHeaders), () => undefined)
})

visitors.delete('/visitors/:id', (req, res) => {
  crowd.leave(req.params.id)
  res.status(204).end()
})
