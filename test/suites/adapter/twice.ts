import { expect, it, vi } from 'vitest'
import type { FairQueueContext } from '@fairqueue/core/http'
import type { Logger } from '@fairqueue/core'
import type { Adapter, AdapterGate } from './adapter.js'
import { closing, openGate, openSite, runningIs } from './site.js'

export function twiceTests(adapter: Adapter): void {
  const ways: readonly (readonly [string, (gate: AdapterGate) => AdapterGate])[] = [
    ['by the same gate', (gate) => gate],
    ['by two gates', (gate) => closing(adapter.gate({ queue: gate.queue! }))],
  ]

  it.each(ways)('%s in front of all and of its route is counted once, and told of once', async (_how, makeInner) => {
    const warn = vi.fn<Logger['warn']>()
    const { gate, queue } = openGate(adapter, { concurrency: 1, maxWaitMs: '20s', logger: { warn } })
    const places: FairQueueContext[] = []
    const running: (number | null)[] = []
    const site = await openSite(adapter, {
      gate,
      routes: [
        {
          path: '/',
          gate: makeInner(gate),
          handler: async ({ place, text }) => {
            places.push(place)
            running.push((await queue.status()).running)
            return text('done')
          },
        },
      ],
    })
    for (let i = 1; i <= 3; i += 1) {
      expect((await site.get('/')).body).toBe('done')
      await runningIs(queue, 0)
    }
    expect(running).toEqual([1, 1, 1])
    expect(new Set(places.map(({ ticket }) => ticket)).size).toBe(3)
    expect((await queue.status()).grants).toBe(3)
    expect(warn.mock.calls.map(([, { code }]) => code)).toEqual(['FQ_REACHED_TWICE'])
  })
}
