import { expect, it } from 'vitest'
import { useRedis } from '@fairqueue/test/kit/clients'
import type { StartChat } from './chatServer.js'
import { eventually } from './eventually.js'
import { FakeModel } from './fakeModel.js'
import { says, useBrowser } from './visitor.js'

/** Two servers, one line. */
export function twoServerTests(start: StartChat): void {
  const redis = useRedis()
  const visit = useBrowser()

  it('two servers on one Redis have one line', async () => {
    const model = await FakeModel.started()
    const env = { ...model.env, CONCURRENCY: '1', REDIS_URL: redis.server.url }
    const [here, there] = [await start(env), await start(env)]
    const [anne, ben] = [await visit(here.url), await visit(there.url)]

    const first = await anne.ask('First, here?')
    await says(first, /^Answering/)
    const second = await ben.ask('Second, there?')
    await says(second, /^Next in line/)
    const third = await anne.ask('Third, here?')
    await says(third, /^2nd in line/)
    for (const visitor of [anne, ben]) await visitor.seesCounts('1', '2')
    expect(await here.status()).toMatchObject({ store: 'redis', instances: 2, local: { running: 1, waiting: 1 } })
    await eventually(() => ben.page.getByLabel('The queue now').textContent()).toMatch(/2 redis\s*$/)

    for (const number of [0, 1, 2]) (await model.conversation(number)).finish()
    await says(third, /^Answered/)
    await says(second, /^Answered/)
    expect(model.conversations.map(({ question }) => question)).toEqual([
      'First, here?',
      'Second, there?',
      'Third, here?',
    ])
    for (const { complaints } of [anne, ben]) expect(complaints).toEqual([])
  })
}
