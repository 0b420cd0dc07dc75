import { FakeClock } from '@fairqueue/core/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Verdicts } from '../../src/store/exchanger.js'
import { Ledger, type Proof } from '../../src/store/ledger.js'
import { Outbox } from '../../src/store/outbox.js'
import type { Slot } from '../../src/store/slot.js'
import { place, type RecordingPlace } from './place.js'

const LIVENESS_MS = 10_000
const LEASE_MS = 60_000

let clock: FakeClock
let outbox: Outbox
let ledger: Ledger

let secrets: number

vi.mock('../../src/base/randomId.js', () => ({ randomSecret: () => String((secrets += 1)) }))

beforeEach(() => {
  secrets = 0
  clock = new FakeClock()
  outbox = new Outbox()
  ledger = new Ledger(clock, outbox, 'i.1', LIVENESS_MS, LEASE_MS)
})

function sent(permits = 1): { slot: Slot; place: RecordingPlace } {
  const asking = place(permits)
  const slot = ledger.open(asking)
  slot.state = 'sent'
  return { slot, place: asking }
}

function verdicts(words: string, first = 1000, grants: string[] = []): Verdicts {
  return { words, first, grants, news: [] }
}

function now(): Proof {
  return { sentAtMs: clock.now(), leaseFromMs: clock.now() }
}

function text(number: number): string {
  return number.toFixed(0).padStart(16, '0')
}

/** What the next batch would tell the store. */
function told(): { releases: readonly string[]; cancels: readonly string[] } {
  const { releases, cancels } = outbox.take()
  return { releases, cancels }
}

describe('the answer to a batch', () => {
  test('tells every place its fate; accepted ones are numbered in order', () => {
    const all = Array.from({ length: 6 }, () => sent())
    const held = ledger.applyVerdicts(
      all.map(({ slot }) => slot),
      verdicts('gqfpqu', 500),
      7,
      now(),
    )
    expect(held).toEqual([])
    expect(all.map(({ place: asking }) => asking.told)).toEqual([
      ['granted'],
      ['queued 6'],
      ['refused full'],
      ['refused permits'],
      ['queued 7'],
      ['refused unavailable'],
    ])
    expect(all.map(({ slot }) => [slot.state, slot.number])).toEqual([
      ['running', text(500)],
      ['waiting', text(501)],
      ['gone', ''],
      ['gone', ''],
      ['waiting', text(502)],
      ['gone', ''],
    ])
    expect([ledger.waiting, ledger.stored]).toEqual([2, 3])
    expect(all[0]!.place.grant).toEqual({ fence: 500, endsAtMs: LEASE_MS })
    expect(ledger.highestFence).toBe(502)
  })

  test('that holds back gives no number: the place waits without one', () => {
    const { slot, place: asking } = sent()
    expect(ledger.applyVerdicts([slot], verdicts('h'), 0, now())).toEqual([slot])
    expect([slot.state, slot.number, asking.told]).toEqual(['held', '', ['queued null']])
    expect(ledger.stored).toBe(0)
    expect(ledger.giveUp(slot)).toBe(false)
    expect(told()).toEqual({ releases: [], cancels: [] })
  })

  test('to an acquire that was given up meanwhile is taken back in the store', () => {
    const all = [sent(), sent(), sent(), sent()]
    for (const { slot } of all) expect(ledger.giveUp(slot)).toBe(true)
    ledger.applyVerdicts(
      all.map(({ slot }) => slot),
      verdicts('gqfh', 500),
      1,
      now(),
    )
    expect(told()).toEqual({ releases: [], cancels: [`${text(500)}:i.1:0.1:1:`, `${text(501)}:i.1:1.2:1:`] })
    expect(all.flatMap(({ place: asking }) => asking.told)).toEqual([])
    expect([ledger.stored, [...ledger.all()].length]).toEqual([0, 0])
  })

  test("counts its leases from when the exchange was sent, so that no signal comes after the store's own end", async () => {
    const { slot, place: asking } = sent()
    await clock.advance(300)
    ledger.applyVerdicts([slot], verdicts('g'), 0, { sentAtMs: 100, leaseFromMs: 100 })
    expect(asking.grant!.endsAtMs).toBe(100 + LEASE_MS)
  })
})

describe('news of a grant', () => {
  test('starts a waiting ticket, once', () => {
    const { slot, place: asking } = sent()
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    const grant = `${text(1000)}:i.1:0.1:1:/2000`
    ledger.applyGrant(grant, now())
    ledger.applyGrant(grant, now())
    expect(asking.told).toEqual(['queued 1', 'granted'])
    expect(asking.grant).toMatchObject({ fence: 2000 })
    expect([ledger.waiting, ledger.stored, ledger.highestFence]).toEqual([0, 1, 2000])
    expect(outbox.isEmpty).toBe(true)
  })

  test.each([
    ['an unknown ticket', `${text(1000)}:i.1:zz:1:/2000`],
    ['a ticket under another number', `${text(999)}:i.1:0.1:1:/2000`],
  ])('of %s gives it back at once', (_, grant) => {
    const { slot, place: asking } = sent()
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    ledger.applyGrant(grant, now())
    expect(asking.told).toEqual(['queued 1'])
    expect(told().releases).toEqual([grant.split('/')[0]])
  })

  test('of a ticket that has ended gives it back', () => {
    const { slot } = sent()
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    expect(ledger.giveUp(slot)).toBe(true)
    const member = `${text(1000)}:i.1:0.1:1:`
    expect(told()).toEqual({ releases: [], cancels: [member] })
    ledger.applyGrant(`${member}/2000`, now())
    expect(told()).toEqual({ releases: [member], cancels: [] })
  })

  test.each([
    '',
    '/',
    'x/5',
    `${text(1)}:i.1:0.1:1:/x`,
    `${text(1)}:i.1:0.1:1:`,
    `${text(1)}:i.1:0.1:1:/`,
    'a:b:c:d:e/1.5',
  ])('that is garbage (%j) is ignored', (grant) => {
    const { place: asking } = sent()
    ledger.applyGrant(grant, now())
    expect(asking.told).toEqual([])
    expect(outbox.isEmpty).toBe(true)
  })

  test('that is older than four fifths of livenessMs starts nothing, and asks for a full look', async () => {
    const { slot, place: asking } = sent()
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    const proof = now()
    await clock.advance(LIVENESS_MS * 0.8 - 1)
    ledger.applyGrant(`${text(999)}:i.1:zz:1:/1`, proof)
    expect(ledger.needsFull).toBe(false)
    await clock.advance(1)
    ledger.applyGrant(`${text(1000)}:i.1:0.1:1:/2000`, proof)
    expect(asking.told).toEqual(['queued 1'])
    expect([slot.state, ledger.needsFull]).toEqual(['waiting', true])
    ledger.applyRunning([`${text(1000)}:i.1:0.1:1:`], 3000, now())
    expect(asking.told).toEqual(['queued 1', 'granted'])
  })
})

describe('a hint that overtakes the answer', () => {
  const grant = `${text(1000)}:i.1:0.1:1:/2000`

  test('counts; the answer then changes nothing', () => {
    const { slot, place: asking } = sent()
    ledger.applyGrant(grant, now())
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    expect(asking.told).toEqual(['granted'])
    expect([ledger.waiting, ledger.stored]).toEqual([0, 1])
    expect(outbox.isEmpty).toBe(true)
  })

  test('counts also if the work is done before the answer comes', () => {
    const { slot, place: asking } = sent()
    ledger.applyGrant(grant, now())
    ledger.giveUp(slot)
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    expect(asking.told).toEqual(['granted'])
    expect([ledger.waiting, ledger.stored, slot.state]).toEqual([0, 0, 'gone'])
    expect(told()).toEqual({ releases: [`${text(1000)}:i.1:0.1:1:`], cancels: [] })
  })

  test('too old to be acted on leaves it waiting, counted once, and its wait runs from the answer', async () => {
    const { slot, place: asking } = sent()
    const proof = now()
    await clock.advance(LIVENESS_MS)
    ledger.applyGrant(grant, proof)
    expect(asking.told).toEqual([])
    ledger.applyVerdicts([slot], verdicts('q'), 1, proof)
    expect(asking.told).toEqual(['queued 1'])
    expect(ledger.waiting).toBe(1)
  })

  test('of a ticket that stands in the line twice: the second is taken out', () => {
    const { slot } = sent()
    ledger.applyGrant(grant, now())
    ledger.applyVerdicts([slot], verdicts('q', 1001), 1, now())
    expect(told()).toEqual({ releases: [], cancels: [`${text(1001)}:i.1:0.1:1:`] })
    expect([slot.state, slot.number]).toEqual(['running', text(1000)])
  })
})

describe('the list of all that runs', () => {
  test('starts who is granted there and gives back who is not ours', () => {
    const { slot, place: asking } = sent()
    ledger.applyVerdicts([slot], verdicts('q'), 1, now())
    ledger.applyRunning([`${text(1000)}:i.1:0.1:1:`, `${text(5)}:i.1:zz:1:`, 'garbage'], 3000, now())
    expect(asking.told).toEqual(['queued 1', 'granted'])
    expect(told().releases).toEqual([`${text(5)}:i.1:zz:1:`, 'garbage'])
  })

  test('without a lease that was there when it was asked for says that it is lost', async () => {
    const [old, young] = [sent(), sent()]
    ledger.applyVerdicts([old.slot], verdicts('g'), 0, now())
    await clock.advance(100)
    const sentAtMs = clock.now()
    await clock.advance(100)
    ledger.applyVerdicts([young.slot], verdicts('g', 1001), 0, now())
    ledger.applyRunning([], 3000, { sentAtMs, leaseFromMs: sentAtMs })
    expect(old.place.told).toEqual(['granted', 'lost taken'])
    expect(young.place.told).toEqual(['granted'])
    expect(ledger.stored).toBe(1)
  })
})

describe('a place', () => {
  test('that is given up is told to the store as what it is there', () => {
    const [unsent, waiting, running] = [ledger.open(place()), sent().slot, sent().slot]
    outbox.acquire(unsent)
    ledger.applyVerdicts([waiting, running], verdicts('qg'), 1, now())
    expect([unsent, waiting, running].map((slot) => ledger.giveUp(slot))).toEqual([false, true, true])
    expect([unsent, waiting, running].map((slot) => ledger.giveUp(slot))).toEqual([false, false, false])
    expect(told()).toEqual({ releases: [`${text(1001)}:i.1:2.3:1:`], cancels: [`${text(1000)}:i.1:1.2:1:`] })
    expect([ledger.waiting, ledger.stored]).toEqual([0, 0])
  })

  test('that needs more than the limit is ended, unless nobody may run at all', () => {
    const [wide, narrow] = [sent(3), sent(1)]
    ledger.applyVerdicts([wide.slot, narrow.slot], verdicts('qq'), 2, now())
    ledger.refuseImpossible(0)
    expect(wide.place.told).toEqual(['queued 1'])
    ledger.refuseImpossible(2)
    expect(wide.place.told).toEqual(['queued 1', 'refused limitFell'])
    expect(narrow.place.told).toEqual(['queued 2'])
    expect(told().cancels).toEqual([`${text(1000)}:i.1:0.1:3:`])
  })

  test('has a member text that says number, instance, ticket, permits and key', () => {
    const slot = ledger.open(place(2, 'a b'))
    slot.number = text(7)
    expect(slot.member('i.1')).toBe(`${text(7)}:i.1:0.1:2:a~0020b`)
  })
})
