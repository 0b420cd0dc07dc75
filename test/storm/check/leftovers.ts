import type { StormRecord, Violation } from './record.js'

const KEYS: Readonly<Record<string, number>> = { waiting: 1, running: 1, aside: 0, parked: 0, keyed: 0 }
const LAST_KEYS: ReadonlySet<string> = new Set(['instances', 'state'])
/** What a heap may have grown by, collected and at rest: code that was compiled, buffers that are kept. */
const HEAP_BYTES = 16 << 20
const KNOWN_WARNINGS = new Set(['FQ_STORE_DOWN', 'FQ_WAKE_CHANNEL_DOWN'])

/** Nothing is left when all have gone: in the store, in the processes, and in how they end. */
export function checkLeftovers(record: StormRecord): Violation[] {
  const violations: Violation[] = []
  const wrong = (rule: string, atMs: number, detail: string): void => void violations.push({ rule, atMs, detail })

  for (const { by, atMs, error } of record.of('trouble')) wrong('trouble', atMs, `${by}: ${error}`)
  for (const { by, atMs, code, message } of record.of('warned'))
    if (!KNOWN_WARNINGS.has(code)) wrong('trouble', atMs, `${by} warned: ${message}`)

  for (const { process, atMs, code, signal, complaints } of record.of('exited')) {
    const killed = record.faults.some(({ kind, processes }) => kind === 'kill' && processes.includes(process))
    const told = record.faults.some(({ kind, processes }) => kind === 'terminate' && processes.includes(process))
    const isOver = record.of('calm').some((calm) => calm.atMs < atMs)
    if (complaints !== '') wrong('exit', atMs, `${process} complained: ${complaints}`)
    if (killed ? signal !== 'SIGKILL' : code !== 0 || !(told || isOver))
      wrong('exit', atMs, `${process} ended with ${signal ?? code}`)
  }

  const [calm] = record.of('calm')
  if (calm === undefined) wrong('leftovers', Infinity, 'the storm did not come to its end')
  for (const { atMs, keys } of record.of('store')) {
    for (const [key, { size, expiresInMs }] of Object.entries(keys)) {
      const name = /^fairqueue:\{storm\}:(\w+)$/.exec(key)?.[1] ?? ''
      const most = KEYS[name]
      if (most === undefined && !LAST_KEYS.has(name)) wrong('leftovers', atMs, `the store has a key ${key}`)
      if (most !== undefined && size > most) wrong('leftovers', atMs, `${key} has ${size} members`)
      if (expiresInMs <= 0) wrong('leftovers', atMs, `${key} never expires`)
    }
  }

  const inspections = record.of('inspected')
  const fresh = inspections.filter(({ when }) => when === 'fresh')
  for (const found of inspections.filter(({ when }) => when === 'calm')) {
    const { process, atMs, heapBytes, listeners } = found
    const expected = {
      running: 0,
      waiting: 0,
      localRunning: 0,
      localWaiting: 0,
      localLimit: null,
      degraded: false,
      wakeChannel: 'open',
      connections: 0,
    } as const
    for (const [name, value] of Object.entries(expected)) {
      const got = found[name as keyof typeof expected]
      if (got !== value) wrong('leftovers', atMs, `${process} at rest: ${name} is ${got}`)
    }
    const before = fresh.find((other) => other.process === process) ?? fresh[0]
    if (before === undefined) continue
    for (const [emitter, count] of Object.entries(listeners)) {
      const then = before.listeners[emitter] ?? 0
      if (count > then) wrong('leftovers', atMs, `${process} has ${count} listeners for ${emitter}, and had ${then}`)
    }
    for (const [kind, count] of Object.entries(found.resources)) {
      const then = before.resources[kind] ?? 0
      if (count > then) wrong('leftovers', atMs, `${process} is kept alive by ${count} ${kind}, and was by ${then}`)
    }
    if (heapBytes > before.heapBytes + HEAP_BYTES)
      wrong('leftovers', atMs, `${process} has ${heapBytes >> 20} MB on its heap, and had ${before.heapBytes >> 20}`)
  }
  return violations
}
