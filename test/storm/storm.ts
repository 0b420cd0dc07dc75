// `npm run test:storm`: everything goes wrong for a while, then a checker proves from what all have written down that the promises held.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { check } from './check.js'
import { sendRequests } from './client.js'
import type { FaultKind, StormTerms } from './entry.js'
import { Faults } from './faults.js'
import { Berth } from './fleet.js'
import { LogWriter, nowMs, readLogs } from './log.js'
import { planFaults } from './plan.js'
import { Random } from './random.js'
import { standalone } from './standalone.js'
import { StoreWatch } from './storeWatch.js'
import { summary } from './summary.js'
import type { Topology } from './topology.js'

const TOPOLOGIES: Readonly<Record<string, () => Promise<Topology>>> = { standalone }

const LETTERS = ['A', 'B', 'C', 'D']
const CLIENTS = 40
/** Those of the processes and of their links; those of the store are the topology's. */
const COMMON_FAULTS: readonly FaultKind[] = [
  'kill',
  'terminate',
  'stop',
  'cut',
  'blackHole',
  'loseAll',
  'loseReplies',
  'slow',
]
/** Limits that an operator sets; never below what a request may need. */
const LIMITS = [2, 3, 4, 5, 6]

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    seconds: { type: 'string', default: '120' },
    topology: { type: 'string', default: 'standalone' },
    /** Leaves out kinds of faults, to find out which one it takes. */
    without: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
    keep: { type: 'boolean', default: false },
  },
})

const makeTopology = TOPOLOGIES[options.topology]
if (makeTopology === undefined) throw new Error(`--topology must be one of ${Object.keys(TOPOLOGIES).join(', ')}`)
const terms: StormTerms = {
  seed: Number(options.seed),
  topology: options.topology,
  concurrency: 4,
  livenessMs: 2500,
  storeTimeoutMs: 500,
  leaseMs: 4000,
  maxWaitMs: 8000,
}
const forMs = Number(options.seconds) * 1000
const directory = await mkdtemp(join(tmpdir(), 'fairqueue-storm-'))
console.log(`storm: seed ${terms.seed}, ${options.seconds} s, ${terms.topology}; logs in ${directory}`)

const log = new LogWriter(directory, 'storm')
const random = new Random(terms.seed)
log.note({ what: 'terms', terms })
const topology = await makeTopology()
const watches = topology.monitored.map((port) => new StoreWatch(port, new LogWriter(directory, `store-${port}`)))
const stopLooking = lookForLags(topology)
const berths = await Promise.all(LETTERS.map((letter) => Berth.open(letter, directory, terms, log, topology)))
for (const berth of berths)
  log.note({ what: 'inspected', process: berth.name, when: 'fresh', ...(await berth.inspect()) })

let isOver = false
const clientLog = new LogWriter(directory, 'clients')
const clients = Array.from({ length: CLIENTS }, (_, index) =>
  sendRequests(`c${index}`, random.fork(), berths, clientLog, () => isOver),
)
await Promise.all([inflictAll(random.fork()), configureNowAndThen(random.fork())])
isOver = true
await Promise.all(clients)
await comeToRest()
for (const berth of berths)
  log.note({ what: 'inspected', process: berth.name, when: 'calm', ...(await berth.inspect()) })
log.note({ what: 'store', keys: await topology.keys() })
for (const berth of berths) berth.signal('SIGTERM')
await Promise.all(berths.map((berth) => berth.exited()))
stopLooking()
for (const watch of watches) watch.close()
for (const { link } of berths) link.close()
await topology.close()

const report = check(readLogs(directory))
console.log(summary(report))
if (report.violations.length === 0 && !options.keep) await rm(directory, { recursive: true })
if (report.violations.length > 0) {
  console.log(
    `\n${report.violations.length} violations; again: npm run test:storm -- --seed ${terms.seed} --seconds ${options.seconds} --topology ${terms.topology}`,
  )
  process.exitCode = 1
}

async function inflictAll(own: Random): Promise<void> {
  const kinds = [...COMMON_FAULTS, ...(Object.keys(topology.faults) as FaultKind[])].filter(
    (kind) => !options.without.includes(kind) && (options.only.length === 0 || options.only.includes(kind)),
  )
  const faults = new Faults(berths, topology, log)
  const fromMs = nowMs()
  const underWay: Promise<void>[] = []
  for (const fault of planFaults(own, kinds, berths.length, forMs - terms.livenessMs, terms.livenessMs)) {
    await sleep(fault.atMs - (nowMs() - fromMs))
    underWay.push(faults.inflict(fault))
  }
  await sleep(forMs - (nowMs() - fromMs))
  await Promise.all(underWay)
}

/** By turns through any process; what is in doubt is said to be so. */
async function configureNowAndThen(own: Random): Promise<void> {
  const untilMs = nowMs() + forMs - terms.livenessMs
  while (nowMs() < untilMs) {
    await sleep(own.between(1500, 6000))
    const concurrency = own.pick(LIMITS)
    const berth = own.pick(berths)
    log.note({ what: 'configure', concurrency, how: 'asked' })
    const done = await berth.configure(concurrency).catch(() => false)
    log.note({ what: 'configure', concurrency, how: done ? 'done' : 'inDoubt' })
  }
}

/** Resolves when nobody has anything left, or when that took far too long: then it shows. */
async function comeToRest(): Promise<void> {
  const untilMs = nowMs() + 3 * terms.livenessMs + terms.leaseMs
  for (;;) {
    const inspections = await Promise.all(berths.map((berth) => berth.inspect()))
    const rests = inspections.every(
      ({ running, waiting, degraded, localLimit, connections }) =>
        running === 0 && waiting === 0 && !degraded && localLimit === null && connections === 0,
    )
    if (rests || nowMs() > untilMs) break
    await sleep(100)
  }
  log.note({ what: 'calm' })
}

/** This process carries the links and the clients: when it stands still all do. And a store may be slow by itself. */
function lookForLags(store: Topology): () => void {
  let lookedAtMs = nowMs()
  let asks = false
  const timer = setInterval(() => {
    const now = nowMs()
    if (now - lookedAtMs > 80) log.note({ what: 'lag', fromMs: lookedAtMs })
    lookedAtMs = now
    if (asks) return
    asks = true
    store
      .ping()
      .catch(() => undefined)
      .finally(() => {
        asks = false
        if (nowMs() - now > 80) log.note({ what: 'storeLag', fromMs: now })
      })
  }, 20)
  return () => clearInterval(timer)
}
