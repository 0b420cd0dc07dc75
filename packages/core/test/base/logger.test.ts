import { once } from 'node:events'
import { expect, test } from 'vitest'
import { processLogger } from '../../src/base/logger.js'

test("without a logger of the user's own, warnings are warnings of the process, with code and cause", async () => {
  const heard = once(process, 'warning')
  processLogger.warn('The store does not answer.', { code: 'FQ_STORE_DOWN', cause: new Error('ECONNREFUSED') })
  const [warning] = (await heard) as [Error]
  expect(warning).toMatchObject({
    name: 'FairqueueWarning',
    message: 'The store does not answer.',
    code: 'FQ_STORE_DOWN',
    detail: 'ECONNREFUSED',
  })
})
