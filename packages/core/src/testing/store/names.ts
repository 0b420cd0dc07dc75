import { enterInOrder, release, statesOf, type MakeWorld } from './world.js'
import { above, deepEqual, matches, rejects } from '../assertions.js'
import { test } from '../suite.js'

/** Names and keys that have broken somebody's key structure, header, page or log. */
const hostileTexts: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '<img src=x onerror=alert(1)>',
  '"><script>',
  '\r\nSet-Cookie: a=b',
  '\u2028',
  '😀',
  '\u200f',
  'x'.repeat(10_000),
  `${'x'.repeat(9999)}y`,
  '{',
  '}',
  '{}',
  'a{b}c',
  '}{',
  '\0',
  '\n',
  ' ',
  ':',
  ',',
  '/',
  '~',
  '!',
  '%',
  '\ud800',
  '\udc00',
  '\ud83d',
  'ä',
  'a\u0308',
  '~0061',
  'waiting',
  '…:waiting',
]

export function nameTests(makeWorld: MakeWorld): void {
  test('several queues on one store are strangers to each other', async () => {
    const world = makeWorld()
    const chat = await world.queue({ name: 'chat', concurrency: 1, maxWaitMs: '1m' })
    const upload = await world.queue({ name: 'upload', concurrency: 1, maxWaitMs: '1m' })
    const tickets = await enterInOrder(world, chat, chat, upload, upload)
    deepEqual(statesOf(tickets), ['granted', 'waiting', 'granted', 'waiting'])
    await upload.configure({ concurrency: 2 })
    await world.settled()
    deepEqual(statesOf(tickets), ['granted', 'waiting', 'granted', 'granted'])
    matches(await chat.status(), { name: 'chat', concurrency: 1, version: 0, waiting: 1 })
  })

  test(
    'hostile names are names like any other: none breaks anything, no two are the same queue',
    async () => {
      const world = makeWorld()
      for (const name of hostileTexts) {
        const queue = await world.queue({ name, concurrency: 1, maxQueueSize: 0 })
        const lease = await queue.acquire()
        matches(await queue.status(), { name, running: 1 })
        await rejects(queue.acquire(), { code: 'FQ_QUEUE_FULL' })
        // Held until the end: who shared the queue could not run.
        above(lease.fence, 0)
      }
      deepEqual(Object.keys({}), [])
    },
    { timeoutMs: 30_000 },
  )

  test('hostile keys are keys like any other', async () => {
    const world = makeWorld()
    const queue = await world.queue({ concurrency: 2, maxWaitMs: '1m' })
    const seen: (string | null)[] = []
    queue.on('released', ({ key }) => seen.push(key))
    const tickets = ['', ...hostileTexts].map((key) => queue.enter({ key }))
    for (const ticket of tickets) {
      await world.settled()
      await release(ticket)
    }
    await world.settled()
    deepEqual(seen, ['', ...hostileTexts])
    matches(await queue.status(), { running: 0, waiting: 0 })
  })
}
