import type { Adapter, Handler } from './adapter.js'
import { asksForEvents, openGate, openSite, runningIs, waitingIs } from './site.js'
import { afterWait } from './twins.js'
import { equal, includes, matches } from '../assertions.js'
import { test } from '../suite.js'

export function switchingTests(adapter: Adapter): void {
  test('off lets everybody pass at once, who waits too; on again holds the line', async () => {
    const { gate, queue } = openGate(adapter, { concurrency: 1, statusDelayMs: 0 })
    const handler: Handler = ({ place, text }) =>
      text(`data: ${place.lease === null ? 'passed' : 'counted'}\n\n`, {
        headers: { 'Content-Type': 'text/event-stream' },
      })
    const site = await openSite(adapter, { routes: [{ path: '/', gate, handler }] })
    const holder = await queue.acquire()
    const silent = site.get('/')
    await waitingIs(queue, 1)
    const told = (await site.connect()).request('GET', '/', asksForEvents)
    await told.until('"position":2')

    await queue.configure({ enabled: false })
    equal((await silent).body, 'data: passed\n\n')
    const { body } = await told.response()
    includes(body, '"state":"admitted","position":0')
    equal(afterWait(body), 'data: passed\n\n')
    told.leave()
    equal((await site.get('/')).body, 'data: passed\n\n')
    matches(await queue.status(), { enabled: false, running: 1, waiting: 0 })

    await queue.configure({ enabled: true })
    const late = site.get('/')
    await waitingIs(queue, 1)
    await holder.release()
    equal((await late).body, 'data: counted\n\n')
    await runningIs(queue, 0)
  })
}
