import type { Adapter } from './adapter.js'
import { leaveWhileRunning, openOne } from './line.js'
import { deferred, moment, runningIs } from './site.js'
import { equal } from '../assertions.js'
import { test } from '../suite.js'

/** A place where the adapter sees the handler's end. */
export function seenEndTests(adapter: Adapter): void {
  test('whose client has gone is kept until the handler is done, neither shorter nor longer', async () => {
    const { queue, res, finish } = await leaveWhileRunning(adapter, { abortGraceMs: 0 })
    res.end()
    await moment()
    equal((await queue.status()).running, 1)
    finish()
    await runningIs(queue, 0)
  })

  test('is kept while the handler works on after its response', async () => {
    const work = deferred()
    const { site, queue } = await openOne(adapter, async ({ raw }) => {
      raw().end('done')
      await work.promise
    })
    await site.get('/')
    await moment()
    equal((await queue.status()).running, 1)
    work.resolve()
    await runningIs(queue, 0)
  })
}

/** A place where only the response tells of the handler's end. */
export function unseenEndTests(adapter: Adapter): void {
  test('whose client has gone is kept until the handler ends its response', async () => {
    const { queue, res, finish } = await leaveWhileRunning(adapter, { abortGraceMs: '1m' })
    equal((await queue.status()).running, 1)
    res.end()
    equal((await queue.status()).running, 0)
    finish()
  })

  test('whose client has gone is kept for abortGraceMs where the handler ends nothing', async () => {
    const { queue, finish } = await leaveWhileRunning(adapter, { abortGraceMs: 100 })
    equal((await queue.status()).running, 1)
    await runningIs(queue, 0)
    finish()
  })
}
