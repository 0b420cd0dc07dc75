// What does the line cost without a network? The memory store against p-queue, which limits and queues in one process and does no more.
import { FairQueue, MemoryStore } from '@fairqueue/core'
import PQueue from 'p-queue'
import { setImmediate as nextTick } from 'node:timers/promises'
import { printGoals, printTable, type Goal } from './kit/report.js'
import { interleave } from './kit/rounds.js'
import { median, medians } from './kit/statistics.js'

const REQUESTS = 200_000
const IN_FLIGHT = 64
const ROUNDS = 7
const HAND_OVERS = 1000

interface Cost extends Record<string, number> {
  readonly perSecond: number
  readonly nodeUs: number
}

/** Closed loops, a fixed number of requests: they go round without ever letting a timer run, so none could end them. */
async function measure(request: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let left = REQUESTS / IN_FLIGHT; left > 0; left -= 1) await request()
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  return { perSecond: REQUESTS / seconds, nodeUs: (cpu.user + cpu.system) / REQUESTS }
}

const work = async (): Promise<void> => {}

function contenders(concurrency: number): {
  pQueue: () => Promise<Cost>
  run: () => Promise<Cost>
  acquire: () => Promise<Cost>
} {
  const pQueue = new PQueue({ concurrency })
  const queue = new FairQueue({ name: `bench ${concurrency}`, concurrency, store: new MemoryStore() })
  return {
    pQueue: () => measure(() => pQueue.add(work)),
    run: () => measure(() => queue.run(work)),
    acquire: () =>
      measure(async () => {
        const lease = await queue.acquire()
        await work()
        await lease.release()
      }),
  }
}

/** The share of hand-overs after which the next ticket's caller goes on before the event loop does. */
async function handOversInTheSameTick(): Promise<number> {
  const queue = new FairQueue({ name: 'bench hand-over', concurrency: 1, store: new MemoryStore() })
  let lease = await queue.acquire()
  let inTheSameTick = 0
  for (let handOver = 0; handOver < HAND_OVERS; handOver += 1) {
    const next = queue.acquire()
    await nextTick()
    let tickEnded = false
    const tick = nextTick().then(() => {
      tickEnded = true
    })
    void lease.release()
    lease = await next
    if (!tickEnded) inTheSameTick += 1
    await tick
  }
  await lease.release()
  await queue.close()
  return inTheSameTick / HAND_OVERS
}

const goals: Goal[] = []
for (const concurrency of [1000, 8]) {
  const rows = await interleave(contenders(concurrency), { warmUps: 2, rounds: ROUNDS })
  const ratio = (name: keyof typeof rows): number =>
    median(rows[name].map((row, round) => row.perSecond / rows.pQueue[round]!.perSecond))
  const titles = { pQueue: 'p-queue', run: 'Fairqueue, run', acquire: 'Fairqueue, acquire + release' }
  printTable(
    `${IN_FLIGHT} in flight, concurrency ${concurrency}`,
    ['', 'requests/s', '× p-queue', 'Node CPU µs'],
    (['pQueue', 'run', 'acquire'] as const).map((name) => {
      const { perSecond, nodeUs } = medians(rows[name])
      return [titles[name], perSecond, ratio(name), nodeUs]
    }),
  )
  const state = concurrency > IN_FLIGHT ? 'nobody waits' : `${IN_FLIGHT - concurrency} wait`
  goals.push({
    what: `requests/s × p-queue, ${state}`,
    measured: ratio('run'),
    goal: 0.5,
    least: 0.25,
    better: 'higher',
  })
}
goals.push({
  what: 'hand-overs in the same tick',
  measured: (await handOversInTheSameTick()) * 100,
  goal: 100,
  least: 100,
  better: 'higher',
  unit: ' %',
})
printGoals('Memory store', goals)
