import { expect, it } from 'vitest'
import { fairQueue } from '@fairqueue/express'
import { closing } from '@fairqueue/test/kit/site'
import { expressVersions, openSite } from './site.js'

it.each(expressVersions)(
  'fairQueue on $version calls next synchronously when the place is granted at once',
  async ({ framework }) => {
    const middleware = closing(fairQueue({ concurrency: 1 }))
    const order: string[] = []
    const site = await openSite(framework, (app) => {
      app.get(
        '/',
        (req, res, next) => {
          middleware(req, res, () => {
            order.push('next')
            next()
          })
          order.push('returned')
        },
        (_req, res) => void res.end(),
      )
    })
    await site.get('/')
    expect(order).toEqual(['next', 'returned'])
  },
)
