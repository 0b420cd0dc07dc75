import { FakeClock } from '@fairqueue/core/testing'
import { describe, expect, test } from 'vitest'
import { Schedule } from '../../src/store/schedule.js'

const POLL_MS = 1000
const LIVENESS_MS = 9000
const NEVER_MS = 86_400_000

interface Circumstances {
  polls: boolean
  lives: boolean
  held: boolean
}

/** A schedule whose every call is answered at once, unless `silent`. */
function open(circumstances: Circumstances, { silent = false, nextMs = NEVER_MS, graceMs = 0 } = {}) {
  const clock = new FakeClock()
  const due: { atMs: number; full: boolean }[] = []
  const answer = { nextMs, graceMs }
  const schedule: Schedule = new Schedule(
    clock,
    POLL_MS,
    LIVENESS_MS,
    () => circumstances,
    (full) => {
      due.push({ atMs: clock.now(), full })
      if (!silent) schedule.answered(full, answer.nextMs, answer.graceMs)
    },
  )
  schedule.answered(true, nextMs, graceMs)
  return { clock, due, schedule, answer }
}

describe('the schedule', () => {
  test('asks for nothing while there is nothing to know', async () => {
    const { clock, due } = open({ polls: false, lives: false, held: false })
    await clock.advance(100_000)
    expect(due).toEqual([])
    expect(clock.pending).toEqual({ foreground: 0, background: 0 })
  })

  test('polls in full while tickets wait, no faster than configured, with jitter', async () => {
    const { clock, due } = open({ polls: true, lives: true, held: false })
    await clock.advance(100_000)
    expect(due.every(({ full }) => full)).toBe(true)
    const gaps = due.slice(1).map(({ atMs }, index) => atMs - due[index]!.atMs)
    for (const gap of gaps) {
      expect(gap).toBeGreaterThanOrEqual(POLL_MS * 0.9)
      expect(gap).toBeLessThanOrEqual(POLL_MS * 1.1)
    }
    expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(10)
    expect(clock.pending).toEqual({ foreground: 0, background: 1 })
  })

  test('proves that it lives three times in a livenessMs while tickets run, without asking for everything', async () => {
    const { clock, due } = open({ polls: false, lives: true, held: false })
    await clock.advance(LIVENESS_MS * 3 + 1)
    expect(due).toHaveLength(9)
    expect(due.every(({ full }) => !full)).toBe(true)
  })

  test('asks when something ends in the store of which nobody tells, when tickets wait', async () => {
    const { clock, due } = open({ polls: true, lives: true, held: false }, { nextMs: 300 })
    await clock.advance(330)
    expect(due).toHaveLength(1)
    expect(due[0]!.full).toBe(false)
    expect(due[0]!.atMs).toBeGreaterThan(270)
    const idle = open({ polls: false, lives: true, held: false }, { nextMs: 300 })
    await idle.clock.advance(1000)
    expect(idle.due).toEqual([])
  })

  test('never asks without a pause, also when the store says "now"', async () => {
    const { clock, due } = open({ polls: true, lives: true, held: false }, { nextMs: 0 })
    await clock.advance(1000)
    expect(due.length).toBeLessThanOrEqual(110)
  })

  test('asks when a grace is over that holds newcomers back', async () => {
    const { clock, due, answer } = open({ polls: false, lives: false, held: true }, { graceMs: 2000 })
    answer.graceMs = 0
    await clock.advance(1999)
    expect(due).toEqual([])
    await clock.advance(100)
    expect(due).toHaveLength(1)
  })

  test('without an answer asks again, no faster than with one', async () => {
    const { clock, due } = open({ polls: true, lives: true, held: false }, { silent: true, nextMs: 100 })
    await clock.advance(10_000)
    expect(due.length).toBeGreaterThanOrEqual(9)
    expect(due.length).toBeLessThanOrEqual(13)
  })

  test('that is stopped asks for nothing more, also when armed again', async () => {
    const { clock, due, schedule } = open({ polls: true, lives: true, held: true })
    schedule.stop()
    schedule.arm()
    await clock.advance(100_000)
    expect(due).toEqual([])
    expect(clock.pending.background).toBe(0)
  })

  test('notices at once when circumstances begin', async () => {
    const circumstances = { polls: false, lives: false, held: false }
    const { clock, due, schedule } = open(circumstances)
    await clock.advance(5000)
    circumstances.lives = true
    schedule.answered(false, NEVER_MS, 0)
    await clock.advance(LIVENESS_MS / 3)
    expect(due).toHaveLength(1)
  })
})
