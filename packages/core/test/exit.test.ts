import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '@fairqueue/test/kit/redisServer'
import { useRedis } from '@fairqueue/test/kit/clients'
import { describe, expect, test } from 'vitest'

const redis = useRedis()
const here = fileURLToPath(new URL('.', import.meta.url))

interface Report {
  /** From the end of the script to the end of the process. */
  readonly lastedMs: number
  readonly warnings: readonly string[]
  readonly said: unknown
}

/** Runs a script in a Node of its own, on what is built; the process has to end by itself. */
async function runScript(script: string): Promise<Report> {
  const program = `
    import { FairQueue, MemoryStore } from '@fairqueue/core'
    import { RedisStore } from '@fairqueue/core/redis'
    import { Redis } from 'ioredis'
    const PORT = ${redis.server.port}
    const warnings = []
    process.on('warning', ({ name, message }) => warnings.push(name + ': ' + message))
    let said
    ${script}
    const endedMs = performance.now()
    process.on('exit', () => console.log(JSON.stringify({ lastedMs: performance.now() - endedMs, warnings, said })))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: here,
    timeout: 15_000,
  })
  return JSON.parse(stdout) as Report
}

const serveOne = `
  const lease = await queue.acquire()
  const waiting = queue.enter()
  await lease.release()
  await (await waiting.granted).release()
`

describe('a process that has used a queue ends by itself', () => {
  test.each([
    ['with close()', 'await queue.close(); await queue.close()'],
    ['without close()', ''],
  ])('B28: on the memory store, %s', async (_, end) => {
    const { lastedMs, warnings } = await runScript(`
      const queue = new FairQueue({ name: 'q', store: new MemoryStore(), concurrency: 1 })
      ${serveOne}
      ${end}
    `)
    expect(lastedMs).toBeLessThan(1000)
    expect(warnings).toEqual([])
  })

  test('B28: with a lease that was never given back, and positions that were watched', async () => {
    const { lastedMs } = await runScript(`
      const queue = new FairQueue({ concurrency: 1 })
      await queue.acquire()
      const ticket = queue.enter({ onStatus: () => undefined })
      ticket.cancel()
    `)
    expect(lastedMs).toBeLessThan(1000)
  })

  test.each([
    ['with close()', 'await queue.close(); await queue.close(); await store.close()'],
    ['without close()', ''],
  ])('B28: on the Redis store, %s, once its own client is closed', async (_, end) => {
    const { lastedMs, warnings } = await runScript(`
      const redis = new Redis(PORT)
      const store = new RedisStore({ redis })
      const queue = new FairQueue({ name: 'q', store, concurrency: 1, bootGraceMs: 0 })
      ${serveOne}
      ${end}
      await redis.quit()
    `)
    expect(lastedMs).toBeLessThan(1300)
    expect(warnings).toEqual([])
  })

  test('B28: on the Redis store after close(), with a lease taken away and waiters refused', async () => {
    const { lastedMs, said } = await runScript(`
      const redis = new Redis(PORT)
      const queue = new FairQueue({ name: 'q', store: new RedisStore({ redis }), concurrency: 1, bootGraceMs: 0 })
      const lease = await queue.acquire()
      const waiting = queue.enter()
      await queue.close({ graceMs: 100 })
      said = [lease.loss.lostBy, waiting.outcome.code, redis.status]
      await redis.quit()
    `)
    expect(said).toEqual(['closed', 'FQ_DRAINING', 'ready'])
    expect(lastedMs).toBeLessThan(1000)
  })

  test.each([
    ['closed', 'FQ_STORE_UNAVAILABLE'],
    ['local', 'ran'],
  ])('B28: while Redis is away and onStoreError is "%s"', async (onStoreError, outcome) => {
    const port = await freePort()
    const { lastedMs, said } = await runScript(`
      // ioredis' own disconnect lets a process live for disconnectTimeout when there is no connection: not ours to measure.
      const redis = new Redis(${port}, { lazyConnect: true, disconnectTimeout: 0 })
      const duplicate = redis.duplicate.bind(redis)
      redis.duplicate = (override) => duplicate({ disconnectTimeout: 2000, ...override })
      redis.on('error', () => undefined)
      const quiet = { logger: { warn() {} }, onStoreError: '${onStoreError}' }
      const queue = new FairQueue({ name: 'q', store: new RedisStore({ redis }), concurrency: 1, ...quiet })
      said = await queue.run(() => 'ran').catch(({ code }) => code)
      await queue.close()
      redis.disconnect()
    `)
    expect(said).toBe(outcome)
    expect(lastedMs).toBeLessThan(1000)
  })

  test('B28: with waits, leases and intervals of 25 days and more none of which ends at once', async () => {
    const { warnings, said } = await runScript(`
      const long = { maxWaitMs: 1e12, leaseMs: '25d', livenessMs: '25d', pollIntervalMs: '25d', statusIntervalMs: 1e12, storeTimeoutMs: '25d' }
      const redis = new Redis(PORT)
      const stores = [new MemoryStore(), new RedisStore({ redis })]
      said = []
      for (const store of stores) {
        const queue = new FairQueue({ name: 'long', store, concurrency: 1, bootGraceMs: 0, ...long })
        const lease = await queue.acquire()
        const waiting = queue.enter({ onStatus: () => undefined })
        await new Promise((resolve) => setTimeout(resolve, 100))
        said.push(lease.signal.aborted, waiting.state)
        await lease.release()
        await (await waiting.granted).release()
        await queue.close()
      }
      await redis.quit()
    `)
    expect(said).toEqual([false, 'waiting', false, 'waiting'])
    expect(warnings).toEqual([])
  })
})
