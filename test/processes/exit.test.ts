import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { useRedis } from '../kit/clients.js'
import type { Ending } from '../programs/everyComponent.js'

const PROGRAM = fileURLToPath(new URL('../dist/programs/everyComponent.js', import.meta.url))

describe('B28: a process that has made every component and served a request on each', () => {
  const redis = useRedis()

  test.each<{ ending: Ending; how: string }>([
    { ending: 'close', how: 'closed everything' },
    { ending: 'leave', how: 'closed nothing but its own Redis clients' },
  ])('ends by itself within a second when it has $how', async ({ ending }) => {
    const child = spawn(process.execPath, [PROGRAM, ending, String(redis.server.port)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [told, complaints] = [text(child.stdout), text(child.stderr)]
    const stuck = setTimeout(() => child.kill('SIGKILL'), 15_000)
    expect(await once(child, 'close')).toEqual([0, null])
    clearTimeout(stuck)
    expect(Number(await told)).toBeLessThan(1000)
    // No warning of a timer that was too long, of a listener too many, of a rejection that nobody handled.
    expect(await complaints).toBe('')
  })
})
