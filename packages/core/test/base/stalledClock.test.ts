import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.js'

const server = createServer()
afterEach(() => server.close())

/** The event loop stands still, as in a long computation or in a process that was stopped. */
function standStill(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

test('B05: when a process has stood still, it hears what it was sent before its overdue timers fire', async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await once(server, 'connection')) as [Socket]
  await once(client, 'connect')

  const happened: string[] = []
  client.on('data', () => happened.push('answer'))
  const cancelled = systemClock.setTimer(() => happened.push('cancelled by the answer'), 20, 'foreground')
  client.on('data', () => cancelled.cancel())
  const fired = new Promise<void>((resolve) => {
    systemClock.setTimer(
      () => {
        happened.push('timer')
        resolve()
      },
      20,
      'foreground',
    )
  })
  peer.write('answer')
  standStill(300)
  await fired
  expect(happened).toEqual(['answer', 'timer'])
  client.destroy()
})
