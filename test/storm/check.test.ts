import { describe, expect, test } from 'vitest'
import { check } from './check.js'
import type { Entry, FaultKind, Happening, Inspection, StormTerms } from './entry.js'

const terms: StormTerms = {
  seed: 1,
  topology: 'none',
  concurrency: 2,
  livenessMs: 3000,
  storeTimeoutMs: 500,
  leaseMs: 4000,
  maxWaitMs: 8000,
}

const rest: Inspection = {
  running: 0,
  waiting: 0,
  localRunning: 0,
  localWaiting: 0,
  localLimit: null,
  degraded: false,
  wakeChannel: 'open',
  heapBytes: 10 << 20,
  connections: 0,
  listeners: { 'redis ready': 1 },
  resources: { TCPSocketWrap: 2 },
}

/** A log as a storm writes it, made by hand: one request after the other is told of, then all comes to rest. */
class ForgedLog {
  readonly entries: Entry[] = []
  #visits = 0
  #faults = 0

  constructor() {
    this.note(0, 'storm', { what: 'terms', terms })
    for (const process of ['A1', 'B1']) {
      this.note(1, 'storm', { what: 'started', process })
      this.note(2, 'storm', { what: 'inspected', process, when: 'fresh', ...rest })
    }
  }

  note(atMs: number, by: string, happening: Happening): this {
    this.entries.push({ atMs, by, ...happening })
    return this
  }

  fault(kind: FaultKind, processes: readonly string[], fromMs: number, toMs: number): this {
    this.#faults += 1
    const fault = this.#faults
    return this.note(fromMs, 'storm', { what: 'fault', fault, kind, processes }).note(toMs, 'storm', {
      what: 'healed',
      fault,
    })
  }

  /** A request that is granted and served; its arrival number is when it came. */
  served(process: string, { number, grantedMs, endedMs, permits = 1, alone = false, lostMs }: Served): this {
    this.#visits += 1
    const visit = this.#visits
    const request = `r${visit}`
    const text = String(number).padStart(16, '0')
    const tickets = [{ number: text, permits }]
    this.note(number, 'clients', { what: 'asked', request, kind: 'silent', process })
    this.note(number, process, { what: 'arrived', visit, request, resumes: false })
    if (!alone) {
      this.note(number + 1, 'store', { what: 'lined', tickets })
      this.note(grantedMs, 'store', { what: 'unlined', tickets }).note(grantedMs, 'store', { what: 'granted', tickets })
    }
    this.note(grantedMs + 2, process, { what: 'ticket', ticket: visit, event: 'granted' })
    this.note(grantedMs + 2, process, {
      what: 'began',
      visit,
      number: text,
      fence: grantedMs,
      permits,
      counted: true,
      alone,
    })
    if (lostMs !== undefined) this.note(lostMs, process, { what: 'lost', visit, cause: 'forgotten' })
    this.note(endedMs, process, { what: 'ended', visit })
    this.note(endedMs + 1, process, {
      what: 'ticket',
      ticket: visit,
      event: lostMs === undefined ? 'released' : 'leaseLost',
    })
    this.note(endedMs + 1, process, { what: 'closed', visit, sent: true })
    const ending = lostMs === undefined ? 'served' : 'interrupted'
    return this.note(endedMs + 2, 'clients', { what: 'answered', request, ending })
  }

  /** The end of the storm, and what the checker says. */
  broken(found: Partial<Inspection> = {}, atMs = 30_000): string[] {
    this.note(atMs, 'storm', { what: 'calm' })
    for (const process of ['A1', 'B1']) {
      this.note(atMs + 1, 'storm', { what: 'inspected', process, when: 'calm', ...rest, ...found })
      this.note(atMs + 2, 'storm', { what: 'exited', process, code: 0, signal: null, complaints: '' })
    }
    const entries = this.entries.toSorted((a, b) => a.atMs - b.atMs)
    return check(entries).violations.map(({ rule, detail }) => `${rule}: ${detail}`)
  }
}

interface Served {
  readonly number: number
  readonly grantedMs: number
  readonly endedMs: number
  readonly permits?: number
  readonly alone?: boolean
  readonly lostMs?: number
}

/** Two run, and the third gets its turn when the first has ended. */
function inOrder(): ForgedLog {
  return new ForgedLog()
    .served('A1', { number: 100, grantedMs: 105, endedMs: 1000 })
    .served('B1', { number: 110, grantedMs: 115, endedMs: 1200 })
    .served('A1', { number: 120, grantedMs: 1010, endedMs: 1500 })
}

test('a log in which all promises were kept passes', () => {
  expect(inOrder().broken()).toEqual([])
})

describe('limit', () => {
  test('a third grant beside two that run is a violation', () => {
    const log = inOrder().served('B1', { number: 130, grantedMs: 1100, endedMs: 1400 })
    expect(log.broken()).toEqual([expect.stringMatching(/^limit: 3 permits of 2 when r4/)])
  })

  test('so is one that needs more permits than are left', () => {
    const log = new ForgedLog()
      .served('A1', { number: 100, grantedMs: 105, endedMs: 1000 })
      .served('B1', { number: 110, grantedMs: 115, endedMs: 1200, permits: 2 })
    expect(log.broken()).toEqual([expect.stringMatching(/^limit: 3 permits of 2/)])
  })

  test('a grant is judged by when the store made it, not by when its process heard of it', () => {
    // Granted while two ran, begun only when one had ended.
    const log = inOrder()
    log.served('B1', { number: 130, grantedMs: 1100, endedMs: 1600 })
    const began = log.entries.findLast(({ what }) => what === 'began')!
    log.entries.splice(log.entries.indexOf(began), 1, { ...began, atMs: 1550 })
    expect(log.broken()).toEqual([expect.stringMatching(/^limit: 3 permits of 2/)])
  })

  test('an operator’s limit counts from when it is set, and what ran before may go on', () => {
    const lowered = (): ForgedLog =>
      inOrder()
        .note(1020, 'storm', { what: 'configure', concurrency: 1, how: 'asked' })
        .note(1030, 'storm', { what: 'configure', concurrency: 1, how: 'done' })
    expect(lowered().broken()).toEqual([])
    expect(lowered().served('B1', { number: 1100, grantedMs: 1300, endedMs: 1700 }).broken()).toEqual([
      expect.stringMatching(/^limit: 2 permits of 1/),
    ])
  })

  test('who was given up in a silence is excused until it is back, and not a moment before it can have been given up', () => {
    const silent = (grantedMs: number, toMs: number): string[] =>
      new ForgedLog()
        .fault('stop', ['A1'], 1000, toMs)
        .served('A1', { number: 900, grantedMs: 910, endedMs: toMs + 300, lostMs: toMs + 200 })
        .served('A1', { number: 920, grantedMs: 930, endedMs: toMs + 300, lostMs: toMs + 200 })
        .served('B1', { number: 940, grantedMs, endedMs: grantedMs + 100 })
        .broken()
    expect(silent(4200, 5000)).toEqual([])
    expect(silent(2000, 5000)).toEqual([expect.stringMatching(/^limit: 3 permits of 2/)])
  })

  test('who was let in without the store is not counted until its process is back, and then is', () => {
    const alone = (grantedMs: number): string[] =>
      new ForgedLog()
        .fault('cut', ['A1'], 1000, 2000)
        .note(1600, 'A1', { what: 'alone', share: 1 })
        .note(2100, 'A1', { what: 'alone', share: null })
        .served('A1', { number: 1650, grantedMs: 1660, endedMs: 9000, alone: true })
        .served('B1', { number: 1700, grantedMs: 1710, endedMs: 9000 })
        .served('B1', { number: 1800, grantedMs, endedMs: 9000 })
        .broken()
    expect(alone(1900)).toEqual([])
    expect(alone(6000)).toEqual([expect.stringMatching(/^limit: 3 permits of 2/)])
  })

  test('a process on its own that lets in more than its share is a violation', () => {
    const log = new ForgedLog()
      .fault('cut', ['A1'], 1000, 3000)
      .note(1600, 'A1', { what: 'alone', share: 1 })
      .note(3100, 'A1', { what: 'alone', share: null })
      .served('A1', { number: 1650, grantedMs: 1660, endedMs: 2500, alone: true })
      .served('A1', { number: 1700, grantedMs: 1710, endedMs: 2500, alone: true })
    expect(log.broken()).toEqual([expect.stringMatching(/^share: 2 permits of a share of 1/)])
  })

  test('whom a process let in just before it was not on its own any more is judged by its share', () => {
    const log = new ForgedLog()
      .fault('cut', ['A1'], 1000, 3000)
      .note(1600, 'A1', { what: 'alone', share: 1 })
      .served('A1', { number: 1650, grantedMs: 3050, endedMs: 3500, alone: true })
      .note(3053, 'A1', { what: 'alone', share: null })
    expect(log.broken()).toEqual([])
  })

  test('a fresh process beside the survivors of a FLUSHALL is excused, an old one is not', () => {
    const flushed = (startedMs: number): string[] => {
      const log = inOrder()
        .fault('flushAll', [], 1100, 1105)
        .served('C1', { number: 1150, grantedMs: 1160, endedMs: 1170 })
      log.note(startedMs, 'storm', { what: 'started', process: 'C1' })
      log.note(29_000, 'storm', { what: 'fault', fault: 99, kind: 'terminate', processes: ['C1'] })
      log.note(29_500, 'storm', { what: 'exited', process: 'C1', code: 0, signal: null, complaints: '' })
      return log.broken()
    }
    expect(flushed(1120)).toEqual([])
    expect(flushed(-5000)).toEqual([expect.stringMatching(/^limit: 3 permits of 2/)])
  })
})

describe('order', () => {
  test('a grant while somebody who came before stands in the line is a violation', () => {
    const log = new ForgedLog()
      .served('A1', { number: 100, grantedMs: 300, endedMs: 1000 })
      .served('B1', { number: 110, grantedMs: 200, endedMs: 900 })
    expect(log.broken()).toEqual([expect.stringMatching(/^order: 0*110 was granted before 0*100$/)])
  })

  test('whoever was away from the line at that moment may be overtaken', () => {
    const tickets = [{ number: '100'.padStart(16, '0'), permits: 1 }]
    const log = new ForgedLog()
      .served('A1', { number: 100, grantedMs: 300, endedMs: 1000 })
      .note(150, 'store', { what: 'unlined', tickets })
      .note(250, 'store', { what: 'lined', tickets })
      .served('B1', { number: 110, grantedMs: 200, endedMs: 900 })
    expect(log.broken()).toEqual([])
  })
})

describe('endings', () => {
  const cases: readonly { name: string; forge: (log: ForgedLog) => unknown; says: RegExp }[] = [
    {
      name: 'a request without an ending',
      forge: (log) => log.note(2000, 'clients', { what: 'asked', request: 'x', kind: 'silent', process: 'A1' }),
      says: /x \(silent\) has no ending/,
    },
    {
      name: 'a request with two endings',
      forge: (log) => log.note(1800, 'clients', { what: 'answered', request: 'r1', ending: 'served' }),
      says: /r1 \(silent\) has 2 endings/,
    },
    {
      name: 'a request that nobody answered',
      forge: (log) =>
        log
          .note(2000, 'clients', { what: 'asked', request: 'x', kind: 'silent', process: 'A1' })
          .note(9000, 'clients', { what: 'answered', request: 'x', ending: 'unanswered' }),
      says: /x \(silent\) ended: unanswered/,
    },
    {
      name: 'a connection that broke though no server ended',
      forge: (log) =>
        log
          .note(2000, 'clients', { what: 'asked', request: 'x', kind: 'silent', process: 'A1' })
          .note(2100, 'clients', { what: 'answered', request: 'x', ending: 'cut' }),
      says: /x \(silent\) ended: cut \(\), though no server did/,
    },
    {
      name: 'an answer that no handler gave',
      forge: (log) =>
        log
          .note(2000, 'clients', { what: 'asked', request: 'x', kind: 'silent', process: 'A1' })
          .note(2100, 'clients', { what: 'answered', request: 'x', ending: 'served' }),
      says: /x \(silent\) was served, and handled 0 times/,
    },
    {
      name: 'a request that was handled twice, on two processes',
      forge: (log) =>
        log
          .note(2000, 'B1', { what: 'arrived', visit: 50, request: 'r1', resumes: true })
          .note(2001, 'B1', {
            ...{ what: 'began', visit: 50, number: null, fence: 2001, permits: 1, counted: true, alone: false },
          })
          .note(2002, 'B1', { what: 'ended', visit: 50 })
          .note(2003, 'B1', { what: 'closed', visit: 50, sent: true }),
      says: /r1 \(silent\) was handled 2 times/,
    },
    {
      name: 'a position that rose',
      forge: (log) =>
        log
          .note(2000, 'clients', { what: 'asked', request: 'x', kind: 'watching', process: 'A1' })
          .note(2100, 'clients', {
            ...{ what: 'answered', request: 'x', ending: 'refused', code: 'FQ_QUEUE_FULL', rose: '3,4' },
          }),
      says: /x \(watching\) was shown a position that rose: 3,4/,
    },
    {
      name: 'a handler that did not end',
      forge: (log) =>
        log.entries.splice(
          log.entries.findIndex(({ what }) => what === 'ended'),
          1,
        ),
      says: /visit A1 1 of r1 began and did not end/,
    },
    {
      name: 'a response that was never closed',
      forge: (log) =>
        log.entries.splice(
          log.entries.findIndex(({ what }) => what === 'closed'),
          1,
        ),
      says: /visit A1 1 of r1 was closed 0 times/,
    },
    {
      name: 'a handler that was refused and began',
      forge: (log) => log.note(1100, 'A1', { what: 'refused', visit: 1, code: 'FQ_WAIT_TIMEOUT' }),
      says: /visit A1 1 of r1 was refused and began/,
    },
    {
      name: 'a ticket that ended twice',
      forge: (log) => log.note(1900, 'A1', { what: 'ticket', ticket: 1, event: 'released' }),
      says: /ticket A1 1: granted, released, released/,
    },
    {
      name: 'a ticket that was released without a grant',
      forge: (log) => log.note(1900, 'A1', { what: 'ticket', ticket: 60, event: 'released' }),
      says: /ticket A1 60: released/,
    },
    {
      name: 'a grant that was never given back',
      forge: (log) => log.note(1900, 'A1', { what: 'ticket', ticket: 60, event: 'granted' }),
      says: /ticket A1 60: granted/,
    },
  ]
  test.each(cases)('$name is a violation', ({ forge, says }) => {
    const log = inOrder()
    forge(log)
    expect(log.broken()).toContainEqual(expect.stringMatching(says))
  })

  test('a fence that was given twice is a violation', () => {
    const log = inOrder()
    const began = log.entries.findLast(({ what }) => what === 'began')!
    log.entries.splice(log.entries.indexOf(began), 1, { ...began, fence: 105 } as Entry)
    expect(log.broken()).toEqual([expect.stringMatching(/^endings: fence 105 was given to r1 at A1 and r3 at A1/)])
  })
})

test('a line that does not move though nothing is broken is a violation, and not while something is', () => {
  const late = { number: 1600, grantedMs: 12_000, endedMs: 12_100 }
  expect(inOrder().served('A1', late).broken()).toEqual([
    expect.stringMatching(/^progress: nobody was let in for 109\d\d ms/),
  ])
  expect(inOrder().fault('stopStore', [], 2000, 5000).served('A1', late).broken()).toEqual([])
})

describe('leftovers', () => {
  test.each<[string, Partial<Inspection>, RegExp]>([
    ['a permit that is still held', { running: 1 }, /A1 at rest: running is 1/],
    ['a ticket that still waits', { waiting: 1 }, /A1 at rest: waiting is 1/],
    ['a process that is still on its own', { localLimit: 1 }, /A1 at rest: localLimit is 1/],
    ['a connection that is still open', { connections: 1 }, /A1 at rest: connections is 1/],
    ['a listener more', { listeners: { 'redis ready': 2 } }, /A1 has 2 listeners for redis ready, and had 1/],
    ['a socket more', { resources: { TCPSocketWrap: 3 } }, /A1 is kept alive by 3 TCPSocketWrap, and was by 2/],
    ['a heap that has grown', { heapBytes: 80 << 20 }, /A1 has 80 MB on its heap, and had 10/],
  ])('%s is a violation', (_, found, says) => {
    expect(inOrder().broken(found)).toContainEqual(expect.stringMatching(says))
  })

  test('so is a key that the store should not have, one with members, and one that never expires', () => {
    const log = inOrder().note(29_000, 'storm', {
      what: 'store',
      keys: {
        'fairqueue:{storm}:running': { type: 'zset', size: 2, expiresInMs: 1000 },
        'fairqueue:{storm}:waiting': { type: 'zset', size: 1, expiresInMs: -1 },
        'fairqueue:{storm}:other': { type: 'string', size: 1, expiresInMs: 1000 },
      },
    })
    expect(log.broken()).toEqual([
      'leftovers: fairqueue:{storm}:running has 2 members',
      'leftovers: fairqueue:{storm}:waiting never expires',
      'leftovers: the store has a key fairqueue:{storm}:other',
    ])
  })

  test.each<[string, Happening, RegExp]>([
    ['a rejection that nobody handled', { what: 'trouble', error: 'Error: nobody' }, /trouble: A1: Error: nobody/],
    [
      'a process that crashed',
      { what: 'exited', process: 'A2', code: 70, signal: null, complaints: '' },
      /exit: A2 ended with 70/,
    ],
    [
      'a process that had to be killed after SIGTERM',
      { what: 'exited', process: 'A2', code: null, signal: 'SIGKILL', complaints: '' },
      /exit: A2 ended with SIGKILL/,
    ],
    [
      'a process that printed a warning',
      { what: 'exited', process: 'A2', code: 0, signal: null, complaints: 'MaxListenersExceededWarning' },
      /exit: A2 complained: MaxListenersExceededWarning/,
    ],
  ])('%s is a violation', (_, happening, says) => {
    expect(inOrder().note(29_000, 'A1', happening).broken()).toContainEqual(expect.stringMatching(says))
  })

  test('so is a storm that did not come to its end', () => {
    const { violations } = check(inOrder().entries)
    expect(violations.map(({ detail }) => detail)).toContain('the storm did not come to its end')
  })
})
