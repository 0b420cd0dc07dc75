import { expect, test } from 'vitest'
import { memoryEvents } from './memory/events.js'
import { MemoryWorld } from './memory/world.js'
import { checkPromises } from './property.js'

test('the promises hold in memory, whatever happens in whatever order', async () => {
  const events = await checkPromises(memoryEvents, 500, async (limit) => new MemoryWorld(limit))
  expect(events).toBeGreaterThan(0)
}, 3_600_000)
