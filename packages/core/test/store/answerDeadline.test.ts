import { breathe, FakeClock } from '@fairqueue/core/testing'
import { expect, test } from 'vitest'
import { AnswerDeadline } from '../../src/store/answerDeadline.js'
import { Deferred } from '../../src/store/outbox.js'
import { Slot } from '../../src/store/slot.js'
import { place } from './place.js'

const AFTER_MS = 1000

function open() {
  const clock = new FakeClock()
  const acquires: Slot[] = []
  const settling: Deferred[] = []
  const overdue: [string, number][] = []
  const deadline = new AnswerDeadline(
    clock,
    AFTER_MS,
    () => ({ acquires, settling }),
    (slot) => {
      overdue.push([slot.place.key!, clock.now()])
      acquires.splice(acquires.indexOf(slot), 1)
    },
  )
  const ask = (ticket: string): Slot => {
    const slot = new Slot(place(1, ticket), 0, clock.now())
    acquires.push(slot)
    deadline.arm()
    return slot
  }
  return { clock, acquires, settling, overdue, deadline, ask }
}

test('each ticket is given up at its own moment, by one timer', async () => {
  const { clock, overdue, ask } = open()
  ask('a')
  await clock.advance(400)
  ask('b')
  ask('c')
  expect(clock.pending.foreground).toBe(1)
  await clock.advance(600)
  await clock.advance(600)
  expect(overdue).toEqual([
    ['a', 1000],
    ['b', 1400],
    ['c', 1400],
  ])
  expect(clock.pending.foreground).toBe(0)
})

test('a moment that no number of the clock is exactly does not set timer after timer in its own millisecond', () => {
  const { clock, overdue, ask } = open()
  clock.moveTo(1950 + 2 ** -42)
  ask('a')
  clock.moveTo(2950)
  clock.fireDue()
  expect(overdue).toEqual([['a', 2950]])
  expect(clock.pending.foreground).toBe(0)
})

test('tickets that were answered, or are unwanted, or run by a hint are left alone', async () => {
  const { clock, overdue, acquires, ask } = open()
  const answered = ask('a')
  ask('b').unwanted = true
  ask('c').state = 'running'
  ask('d').state = 'gone'
  acquires.splice(acquires.indexOf(answered), 1)
  await clock.advance(5000)
  expect(overdue).toEqual([])
  expect(clock.pending.foreground).toBe(0)
})

test('who waits for a release waits no longer than the deadline', async () => {
  const { clock, settling, deadline } = open()
  const asked = new Deferred()
  asked.askedAtMs = clock.now()
  settling.push(asked, new Deferred())
  deadline.arm()
  let settled = false
  void asked.promise.then(() => (settled = true))
  await clock.advance(999)
  expect(settled).toBe(false)
  await clock.advance(1)
  await breathe()
  expect(settled).toBe(true)
})

test('stopping lets everybody go and leaves no timer', async () => {
  const { clock, settling, deadline, overdue, ask } = open()
  const waiting = new Deferred()
  settling.push(waiting)
  ask('a')
  deadline.stop()
  await waiting.promise
  await clock.advance(5000)
  expect(overdue).toEqual([])
  expect(clock.pending.foreground).toBe(0)
})
