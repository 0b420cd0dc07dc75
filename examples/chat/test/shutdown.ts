import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { useRedis } from '@fairqueue/test/kit/clients'
import { RawClient } from '@fairqueue/test/kit/rawHttp'
import type { StartChat } from './chatServer.js'
import { FakeModel } from './fakeModel.js'
import { says, useBrowser } from './visitor.js'

/** The end of a server. */
export function shutdownTests(start: StartChat): void {
  describe('On a signal the example', () => {
    const redis = useRedis()
    const visit = useBrowser()

    it.each<[signal: NodeJS.Signals, store: string]>([
      ['SIGINT', 'memory'],
      ['SIGTERM', 'Redis'],
    ])('%s answers who waits, lets the running one finish and ends by itself (%s)', async (signal, store) => {
      const model = await FakeModel.started()
      const server = await start({
        ...model.env,
        CONCURRENCY: '1',
        ...(store === 'Redis' && { REDIS_URL: redis.server.url }),
      })
      const visitor = await visit(server.url)
      const running = await visitor.ask('Who runs?')
      const answer = await model.conversation(0)
      answer.say('I ')
      const told = await visitor.ask('Who waits and is told?')
      await says(told, /^Next in line/)
      const untold = await RawClient.connect(server.port)
      untold.request('POST', '/ask', { 'Content-Type': 'application/json' }, '{"question":"Who waits in silence?"}')
      await server.untilCounts(1, 2)
      // Browsers open connections that they do not need yet.
      await RawClient.connect(server.port)

      const exit = once(server.process, 'exit')
      server.process.kill(signal)
      await says(told, /closing.*Try again in \d+ s/)
      const refusal = await untold.response()
      expect(refusal.status).toBe(503)
      expect(refusal.header('retry-after')).toMatch(/^\d+$/)
      expect(JSON.parse(refusal.body)).toMatchObject({ code: 'FQ_DRAINING' })

      answer.finish('do.')
      await says(running, /^Answered/)
      expect(await exit).toEqual([0, null])
    })

    it('ends by itself although Redis is gone', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, REDIS_URL: redis.server.url })
      await server.untilCounts(0, 0)
      await redis.server.kill()
      try {
        const exit = once(server.process, 'exit')
        server.process.kill('SIGTERM')
        expect(await exit).toEqual([0, null])
      } finally {
        await redis.server.start()
      }
    })
  })
}
