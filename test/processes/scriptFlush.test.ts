import { expect, test } from 'vitest'
import type { SentCommand } from './storeMonitor.js'
import { useWorld } from './world.js'

const world = useWorld()

test('scripts that are flushed between any two operations cost one EVAL per script, flush and process, and nobody sees it', async ({
  annotate,
}) => {
  const processes = await world().start('AB', { concurrency: 8 })
  const monitor = await world().monitor()
  let isLoaded = true
  const flushes = [1, 2, 3].map(async () => {
    while (isLoaded) await world().redis.script('FLUSH')
  })
  // Several ask at the same time for the same script.
  const looks = processes.map(async (process) => {
    while (isLoaded) for (const { degraded } of await process.statuses(5)) expect(degraded).toBe(false)
  })
  await Promise.all(processes.map((process) => process.enter(150, { workMs: 20, everyMs: 2 })))
  await processes[0]!.configure(4, 'operator')
  await world().ended(300)
  isLoaded = false
  await Promise.all([...flushes, ...looks])

  world().assertServedOnce()
  world().assertLimitKept(8)
  await world().assertEmpty()
  expect(world().log.of('degraded')).toEqual([])
  const { flushed, evals, most } = countEvals(monitor.sent)
  expect(flushed).toBeGreaterThan(100)
  expect(evals).toBeGreaterThan(50)
  expect(most).toBe(1)
  await annotate(`${evals} EVAL after ${flushed} flushes`)
})

/** `most`: how often at most one process sent the text of one script between two flushes. */
function countEvals(sent: readonly SentCommand[]): { flushed: number; evals: number; most: number } {
  let [flushed, evals, most] = [0, 0, 0]
  let counts = new Map<string, number>()
  for (const { source, args } of sent) {
    const [command, text] = args
    if (command?.toLowerCase() === 'script') {
      flushed += 1
      counts = new Map()
    } else if (command?.toLowerCase() === 'eval') {
      evals += 1
      const sender = `${source} ${text}`
      counts.set(sender, (counts.get(sender) ?? 0) + 1)
      most = Math.max(most, counts.get(sender)!)
    }
  }
  return { flushed, evals, most }
}
