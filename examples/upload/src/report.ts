import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestHandler } from 'express'

/** The server's other slow work, which uploads must not hold up. */
export const report: RequestHandler = async (_req, res) => {
  await sleep(200)
  res.json({ report: 'All is well.' })
}
